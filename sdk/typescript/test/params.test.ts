import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { z } from "zod";

import { Executor } from "../src/index";
import { parse } from "../src/json";
import { runHandler } from "../src/testing";

interface Case {
  name: string;
  params: string;
  value?: string;
  refused?: string;
}

// The cases that all SDKs share.
const { cases } = JSON.parse(readFileSync(join(__dirname, "../../../../executor/schema/testdata/params.json"), "utf8")) as { cases: Case[] };

const Item = z.strictObject({ sku: z.string(), count: z.number().int().nullish() });

const Order = z.strictObject({
  customer: z.string().min(1).max(8),
  rows: z.number().int().min(1).max(9),
  id: z.union([z.number().int(), z.bigint()]).nullish(),
  rate: z.number().gt(0).nullish(),
  size: z.enum(["s", "l"]).nullish(),
  items: z.array(Item).nullish(),
});

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutNulls);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).flatMap(([k, v]) => (v === null || v === undefined ? [] : [[k, withoutNulls(v)]])));
}

for (const c of cases) {
  test(`parameters are read as by all SDKs: ${c.name}`, async () => {
    const order = new Executor({ group: "g" }).handler("order", { params: Order }, () => {}).handlers.get("order");
    assert.ok(order !== undefined);
    const read = order.params(c.params === "" ? undefined : parse(c.params));
    if (c.value !== undefined) {
      assert.deepEqual(withoutNulls(await read), parse(c.value));
    } else {
      await assert.rejects(read, (e: Error) => e.message.includes(c.refused ?? "?"));
    }
  });
}

test("a test may give a handler whole numbers of 64 bits", async () => {
  const got: unknown[] = [];
  const app = new Executor({ group: "g" }).handler("order", (run) => void got.push(run.params));
  const params = { id: 9007199254740993n, like: "\u00007", more: [-9223372036854775808n, 7] };
  const end = await runHandler(app, "order", params);
  assert.equal(end.status, "succeeded", end.message);
  assert.deepEqual(got, [params]);
});
