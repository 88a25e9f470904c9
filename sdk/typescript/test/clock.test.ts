import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { Executor } from "../src/index";
import { clock } from "../src/time";
import { instanceOf, message, promise, raw, REPLY } from "./nats";

afterEach(() => {
  clock.offset = 0;
});

test("a clock is corrected only if it is wrong", () => {
  const stored = Date.parse("2026-01-05T02:00:00Z");
  for (const [ahead, want, changed] of [[1000, 0, false], [600_000, 600_000, true], [600_900, 600_000, false], [-600_000, -600_000, true], [500, 0, true]] as const) {
    assert.deepEqual([clock.compare(stored + ahead, stored), clock.offset], [changed, want]);
  }
  assert.equal(clock.compare(stored, Number.NaN), false);
});

test("a deadline is one of NATS' clock", async () => {
  for (const [off, status] of [[600_000, "succeeded"], [-600_000, "succeeded"], [0, "succeeded"]] as const) {
    clock.offset = 0;
    const ended = promise();
    const { instance, nats } = instanceOf(new Executor({ group: "g" }).handler("h", () => ended.resolve()));
    const real = Date.now() - off; // what NATS' clock says
    clock.compare(Date.now(), real);
    const at = (ms: number) => new Date(real + ms).toISOString();
    instance.attempts.take(message("x", raw({ fire_time: at(-10), committed_at: at(-10), start_by: at(60_000), end_by: at(300_000) }), { reply: REPLY }));
    const sent = await nats.until((s) => s.subject.startsWith("evt.") && s.data.includes("finished"));
    const end = JSON.parse(sent.data);
    assert.equal(end.status, status, end.message);
    assert.ok(Math.abs(Date.parse(end.started_at) - real) < 30_000 && Math.abs(Date.parse(end.finished_at) - real) < 30_000);
  }
});

test("a run whose end_by is over is not begun", async () => {
  const { instance, nats } = instanceOf(new Executor({ group: "g" }).handler("h", () => assert.fail("it was begun")));
  instance.attempts.take(message("x", raw({ end_by: "2026-01-05T02:05:00Z" }), { reply: REPLY }));
  const end = JSON.parse((await nats.until((s) => s.data.includes("finished"))).data);
  assert.deepEqual([end.status, end.message, end.started_at], ["timed_out", "the run had to end by 2026-01-05T02:05:00.000Z, with all its attempts", undefined]);
});
