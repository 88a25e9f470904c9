import assert from "node:assert/strict";
import { test } from "node:test";

import { Executor, type Run, StartRefused } from "../src/index";
import { timing } from "../src/starts";
import { runHandler } from "../src/testing";
import { instanceOf, REPLY, trigger } from "./nats";

timing.again = 1;

/** Does an attempt with a handler, while servers answer in turn; returns what they were asked, and how the attempt ended. */
async function asked(work: (run: Run) => unknown, answers: unknown[]) {
  const { instance, nats } = instanceOf(new Executor().handler("h", work));
  let n = 0;
  nats.answer = ({ subject }) => {
    if (subject !== "start.g") {
      return { stream: "EVT", seq: 1 };
    }
    n++;
    return answers.shift() ?? { value: { run_id: `run${n}` } };
  };
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
  const starts = nats.sent.filter((s) => s.subject === "start.g");
  return { wishes: starts.map((s) => JSON.parse(s.data)), texts: starts.map((s) => s.data), headers: starts.map((s) => s.headers), end: JSON.parse(nats.of("evt.3.g")[0] ?? "") };
}

const unavailable = { fault: { kind: "unavailable", text: "busy" } };

test("a start is counted by its job and params, and bound to the attempt", async () => {
  const { wishes, texts, headers, end } = await asked(async (run) => {
    await run.start("g/b", { y: [{ b: 1, a: 2 }], x: 2 }, { in: "1h", expires: 60 });
    await run.start("g/b", { x: 2, y: [{ a: 2, b: 1 }] });
    await run.start("g/b");
    return await run.start("g/c", { x: 2n ** 60n }, { at: new Date("2026-03-01T12:00:00Z"), labels: { zone: "eu" } });
  }, []);
  assert.deepEqual(wishes.slice(0, 3), [
    { job: "g/b", params: { x: 2, y: [{ a: 2, b: 1 }] }, in: "3600000ms", expires: "60000ms", count: 0 },
    { job: "g/b", params: { x: 2, y: [{ a: 2, b: 1 }] }, count: 1 },
    { job: "g/b", count: 0 },
  ]);
  assert.equal(texts[3], '{"job":"g/c","params":{"x":1152921504606846976},"at":"2026-03-01T12:00:00.000Z","labels":{"zone":"eu"},"count":0}');
  assert.deepEqual(headers[0], { "Carillon-Token": "token", "Carillon-Ack": REPLY });
  assert.equal(end.result, "run4");
});

test("a start without an answer is repeated with its count", async () => {
  const { wishes, end } = await asked((run) => run.start("g/b"), [new Error("timeout"), unavailable]);
  assert.deepEqual(wishes, [{ job: "g/b", count: 0 }, { job: "g/b", count: 0 }, { job: "g/b", count: 0 }]);
  assert.equal(end.result, "run3");
});

test("a start that is refused throws", async () => {
  const { wishes, end } = await asked(async (run) => {
    const e = await run.start("g/b").catch((e: unknown) => e);
    return e instanceof StartRefused && [e.kind, e.message];
  }, [{ fault: { kind: "conflict", text: "it has ended" } }]);
  assert.equal(wishes.length, 1);
  assert.deepEqual(end.result, ["conflict", "it has ended"]);
});

test("a start that no server answers throws at last", async () => {
  timing.patience = 10;
  try {
    const { end } = await asked((run) => run.start("g/b"), new Array(100).fill(unavailable));
    assert.deepEqual([end.status, end.message], ["failed", "StartRefused: busy"]);
  } finally {
    timing.patience = 60_000;
  }
});

test("the test kit records what a handler wants to start", async () => {
  const app = new Executor().handler("h", (run) => run.start("g/b", { n: 1 }));
  const end = await runHandler(app, "h");
  assert.deepEqual(end.started, [{ job: "g/b", params: { n: 1 }, count: 0 }]);
  assert.equal(typeof end.result, "string");
});
