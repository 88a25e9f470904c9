import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { Executor } from "../src/index";
import { runHandler } from "../src/testing";

async function returning(value: () => unknown) {
  return await runHandler(new Executor({ group: "g" }).handler("h", value), "h");
}

// biome-ignore lint/suspicious/noThenProperty: libraries of databases have such queries
const thenable = (value: unknown) => ({ then: (done: (v: unknown) => void) => done(value) });

test("what can be awaited is awaited", async () => {
  for (const value of [() => sleep(1, 1), () => thenable(1), () => thenable(sleep(1, 1)), async () => thenable(1)]) {
    const end = await returning(value);
    assert.deepEqual([end.status, end.result, end.message], ["succeeded", 1, ""]);
  }
});

test("work that is not done fails the run, with the place", async () => {
  const unfinished: [() => unknown, string][] = [
    [() => ({ a: sleep(1) }), "result.a is a promise"],
    [() => ({ a: [1, { b: thenable(1) }] }), "result.a[1].b is a promise"],
    [() => [1, 2].map(async (n) => await sleep(1, n)), "result[1] is a promise"],
    [() => [Promise.reject(new Error("no")), Promise.reject(new Error("no"))], "result[1] is a promise"],
    [function* () { yield 1; }, "the result is a generator or iterator"],
    [async function* () { yield 1; }, "the result is an async generator"],
    [() => ({ rows: new Map([[1, 2]]).values() }), "result.rows is a generator or iterator"],
    [() => new Map([["a", sleep(1)]]), "result.a is a promise"],
    [() => Readable.from(["x"]), "the result is a stream"],
    [() => ({ body: new ReadableStream() }), "result.body is a stream"],
    [() => new Response("x"), "the result is a Response, whose body was not read"],
  ];
  for (const [value, says] of unfinished) {
    const end = await returning(value);
    assert.deepEqual([end.status, end.result], ["failed", undefined], says);
    assert.equal(end.message, `the handler returned unfinished work: ${says}; finish it in the handler, and return its value`);
  }
});

test("a result that is done is stored as it is", async () => {
  const at = new Date(0);
  const shared = { n: 1, f: () => 2, toJSON: () => ({ n: 1 }) };
  assert.deepEqual((await returning(() => ({ at, a: shared, b: shared, list: [1, null] }))).result, { at: at.toISOString(), a: { n: 1 }, b: { n: 1 }, list: [1, null] });
});
