import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { decode } from "../src/trigger";
import { Garbage } from "../src/wire";
import { raw, trigger } from "./nats";

const ROOT = join(__dirname, "../../../..");

test("golden triggers are read, and events repeat what they say", () => {
  for (const name of ["trigger.json", "trigger-piece.json", "trigger-split.json"]) {
    const data = readFileSync(join(ROOT, "bus/testdata", name), "utf8");
    const golden = JSON.parse(data);
    assert.equal(decode(data, "token", 1, golden.job.split("/")[0]).about().committed_at, golden.committed_at, name);
  }
});

test("ids of pieces have their index", () => {
  const id = "019b8be1-f500-746c-9285-f6b4613a1707";
  assert.equal(trigger({ broadcast_total: 3 }).messageId("finished"), `${id}:1.0:finished:token`);
  assert.equal(trigger().messageId("started", "2"), `${id}:1:started:2:token`);
});

test("what is no trigger of the group is garbage", () => {
  for (const data of ["no json", "[]", "{}", "null", raw({ job: "other/a" }), raw({ attempt: "1" })]) {
    assert.throws(() => decode(data, "", 1, "g"), Garbage, data);
  }
});

test("a trigger with a wrong field is garbage before anything begins", () => {
  const wrong = [
    { start_by: "tomorrow" }, { end_by: 7 }, { timeout: "soon" }, { warn_after: "1x" }, { fire_time: "yesterday" },
    { attempt: 0 }, { attempt: true }, { broadcast_total: 2, broadcast_index: 2 }, { broadcast_index: -1 }, { shard: -1 },
    { report: "evt.p0.other" }, { report: "evt.3.g" }, { report: 7 }, { retry: 3 }, { retry: { limit: "3" } }, { task: { secrets: ["db"] } }, { task: { handler: 7 } },
  ];
  for (const more of wrong) {
    assert.throws(() => decode(raw(more), "", 1, "g"), Garbage, JSON.stringify(more));
  }
});

test("a retry rule says what follows", () => {
  const rule = { limit: 1, on: ["failed", "timed_out"] };
  assert.equal(trigger({ retry: rule }).again("failed"), true);
  assert.equal(trigger({ retry: rule }).again("succeeded"), false);
  assert.equal(trigger({ retry: rule, attempt: 2 }).again("failed"), false);
  assert.equal(trigger({ retry: { ...rule, exit_codes: [3] } }).again("failed"), false);
  assert.equal(trigger({ retry: { ...rule, exit_codes: [3] } }).again("timed_out"), true);
});
