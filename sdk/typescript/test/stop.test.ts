import assert from "node:assert/strict";
import { test } from "node:test";

import { ConflictError, Executor, type ExecutorOptions, Stopping } from "../src/index";
import { ask, instanceOf, promise, quiet, raw, REPLY, trigger } from "./nats";

const RUN_ID = JSON.parse(raw()).run_id;
const EVENTS = "evt.3.g";

/** An instance with a run that goes on until it has to end, and what stops it. */
async function busy(options: ExecutorOptions = {}) {
  const began = promise();
  const app = new Executor().handler("h", (run) => {
    began.resolve();
    return new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)));
  });
  const stop = new AbortController();
  const of = { ...instanceOf(app, options, quiet, stop.signal), stop: () => stop.abort() };
  of.instance["introduced"] = true;
  of.instance.attempts.start(trigger(), REPLY);
  await began.done;
  return of;
}

test("a second stop gives runs back at once", async () => {
  const hurry = new AbortController();
  const signals = { stop: new AbortController().signal, hurry: hurry.signal };
  const began = promise();
  const app = new Executor().handler("h", (run) => {
    began.resolve();
    return new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)));
  });
  const { instance, nats } = instanceOf(app, { grace: "1h" }, quiet, signals as never);
  instance["introduced"] = true;
  instance.attempts.start(trigger(), REPLY);
  await began.done;
  const left = instance["leave"]();
  await nats.until((s) => s.data.includes('"draining"'));
  assert.equal(instance.attempts.live.size, 1);
  hurry.abort();
  await left;
  assert.ok(nats.of(REPLY).some((answer) => answer.startsWith("-NAK")));
});

test("a run that ends well while the executor stops counts, and any other is given back", async () => {
  for (const [delivery, endsWell, answer, events] of [["", true, "+ACK", 1], ["", false, "-NAK", 0], ["at_most_once", false, "+ACK", 1]] as const) {
    const began = promise();
    const app = new Executor().handler("h", async (run) => {
      began.resolve();
      await new Promise((resolve, reject) => run.signal.addEventListener("abort", () => (endsWell ? resolve("done") : reject(run.signal.reason))));
    });
    const { instance, nats } = instanceOf(app);
    instance.attempts.start(trigger({ delivery }), REPLY);
    await began.done;
    for (const attempt of instance.attempts.live.values()) {
      attempt.end(new Stopping("the executor is stopping"));
    }
    await nats.until((s) => s.subject === REPLY && s.data.startsWith(answer));
    assert.equal(nats.of(EVENTS).length, events);
    assert.equal(events === 1 && !endsWell ? JSON.parse(nats.of(EVENTS)[0] ?? "").status : "lost", "lost");
  }
});

test("an at_most_once attempt whose handler was not called when the executor stops is given back, and not claimed", async () => {
  const checking = promise();
  const checked = promise();
  const params = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: async (value: unknown) => {
        checking.resolve();
        await checked.done;
        return { value };
      },
    },
  };
  for (const during of ["params", "claim"]) {
    const { instance, nats } = instanceOf(during === "params" ? new Executor().handler("h", { params }, () => 1) : new Executor().handler("h", () => 1));
    nats.answer = ({ subject }) => (subject.includes("$KV.CLAIM.") ? new Error("away") : { stream: "EVT", seq: 1 });
    instance.attempts.start(trigger({ delivery: "at_most_once" }), REPLY);
    await (during === "params" ? checking.done : nats.until((s) => s.subject.startsWith("$KV.CLAIM.")));
    for (const attempt of instance.attempts.live.values()) {
      attempt.end(new Stopping("the executor is stopping"));
    }
    checked.resolve();
    await nats.until((s) => s.subject === REPLY && s.data.startsWith("-NAK") || s.subject === EVENTS);
    assert.deepEqual(nats.of(EVENTS), [], during);
    assert.equal(nats.sent.some((s) => s.subject.startsWith("$KV.CLAIM.")), during === "claim");
  }
});

test("a run that is killed while a stop ends it ends as cancelled", async () => {
  for (const [logged, delivery] of [[false, "at_least_once"], [true, "at_least_once"], [false, "at_most_once"]] as const) {
    const began = promise();
    const ended = promise();
    const of = instanceOf(new Executor().handler("h", (run) => {
      began.resolve();
      return new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)));
    }));
    of.nats.answer = async ({ subject }) => {
      await (logged && subject.startsWith("log.") ? ended.done : undefined);
      return { stream: "EVT", seq: 1 };
    };
    of.instance.attempts.start(trigger({ delivery }), REPLY);
    await began.done;
    for (const attempt of of.instance.attempts.live.values()) {
      attempt.end(new Stopping("the executor is stopping"));
    }
    await (logged ? of.nats.until((s) => s.subject.startsWith("log.")) : undefined);
    assert.equal(ask(of, "kill", JSON.stringify({ run_id: RUN_ID, by: "ann" })).value.answer, "accepted");
    ended.resolve();
    await of.nats.until((s) => s.subject === REPLY && s.data !== "+WPI");
    assert.deepEqual(of.nats.of(REPLY), ["+ACK"]);
    const end = JSON.parse(of.nats.of(EVENTS)[0] ?? "");
    assert.deepEqual([end.status, end.message], ["cancelled", "cancelled by ann"]);
  }
});

test("a stop while the instance drains until a time gives live runs the grace", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const of = await busy({ grace: "20s" });
  ask(of, "drain", '{"within": "1h"}');
  of.stop();
  const done = of.instance["work"]().then(() => of.instance["leave"]());
  await new Promise(setImmediate); // it is stopping now
  now = 19_000;
  await of.nats.until(() => of.nats.of("$KV.INST.g.i").length > 2); // its heartbeats go on
  assert.deepEqual(of.nats.of(REPLY).filter((answer) => answer !== "+WPI"), []);
  now = 21_000;
  await done;
  assert.match(of.nats.of(REPLY).at(-1) ?? "", /^-NAK/);
});

test("a stop gives live runs no more than what is left of the time of a drain", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const of = await busy({ grace: "1h" });
  of.instance.change("draining", new Date(Date.now() + 60_000));
  of.stop();
  const done = of.instance["work"]().then(() => of.instance["leave"]());
  await new Promise(setImmediate); // it is stopping now
  now = 50_000;
  await of.nats.until(() => of.nats.of("$KV.INST.g.i").length > 2); // its heartbeats go on
  assert.equal(of.instance.attempts.live.size, 1);
  now = 61_000;
  await done;
  assert.match(of.nats.of(REPLY).at(-1) ?? "", /^-NAK/);
});

test("an instance that stops introduces itself on a new connection, and touches no heartbeat of its name before", async () => {
  for (const free of [true, false]) {
    const of = await busy({ grace: "1h" });
    const begun = of.nats.sent.length;
    of.nats.answer = ({ subject }) => (!free && subject.includes("$KV.INST.") ? { error: { err_code: 10071, description: "wrong last sequence" } } : { stream: "EVT", seq: 1 });
    of.stop();
    of.instance.bus.onReconnect();
    const done = of.instance["leave"]();
    ask(of, "set", '{"labels": {"zone": "eu"}}');
    const beats = () => of.nats.sent.slice(begun).filter((s) => s.subject === "$KV.INST.g.i");
    await of.nats.until(() => beats().length > (free ? 1 : 0));
    ask(of, "kill", JSON.stringify({ run_id: RUN_ID }));
    await done;
    assert.equal(beats()[0]?.headers["Nats-Expected-Last-Subject-Sequence"], "0");
    assert.equal(beats().at(-1)?.headers["KV-Operation"], free ? "DEL" : undefined);
    assert.ok(free || beats().every((s) => s.headers["Nats-Expected-Last-Subject-Sequence"] !== undefined));
  }
});

test("an instance that finds another one of its name while it stops ends its runs, and says so", async (t) => {
  const of = await busy({ grace: "1h" });
  of.stop();
  t.mock.method(of.instance["heart"], "introduce", async () => {
    throw new ConflictError("it lives on host web1");
  });
  of.instance.bus.onReconnect();
  const done = of.instance["leave"]();
  done.catch(() => {});
  while (of.instance["conflict"] === undefined) {
    await new Promise(setImmediate);
  }
  assert.equal(of.instance.attempts.live.size, 1);
  ask(of, "kill", JSON.stringify({ run_id: RUN_ID }));
  await assert.rejects(done, ConflictError);
  assert.ok(of.nats.of(REPLY).includes("+ACK") && !of.nats.of("$KV.INST.g.i").includes(""));
});

test("an introduction that is under way when an instance has drained does not revive its heartbeat", async () => {
  for (const stored of [true, false]) {
    const of = instanceOf(new Executor());
    const answered = promise();
    of.nats.answer = async () => {
      await answered.done;
      return stored ? { stream: "KV_INST", seq: 1 } : new Error("away");
    };
    of.instance["introduced"] = false;
    const done = of.instance["work"]().then(() => of.instance["leave"]());
    await of.nats.until((s) => s.subject === "$KV.INST.g.i");
    ask(of, "drain");
    while (!of.instance["introductions"].signal.aborted) {
      await new Promise(setImmediate);
    }
    answered.resolve();
    await done;
    const beats = of.nats.of("$KV.INST.g.i");
    assert.equal(beats.indexOf(""), stored ? beats.length - 1 : -1);
  }
});

test("once the time of a drain is over, live runs end at once", async () => {
  const of = await busy({ grace: "1h" });
  ask(of, "drain", '{"within": "1ms"}');
  await of.instance["work"]();
  await of.instance["leave"]();
  assert.match(of.nats.of(REPLY).at(-1) ?? "", /^-NAK/);
});

test("what is asked of an instance that stops does not undo the stop", async () => {
  const of = await busy({ grace: "1h" });
  of.stop();
  const done = of.instance["leave"]();
  assert.equal(ask(of, "uncordon").value.answer, "draining");
  for (const [verb, body] of [["drain", '{"within": "1h"}'], ["drain", ""], ["cordon", ""], ["set", '{"slots": 64}']] as const) {
    const { answer, state, drain_by } = ask(of, verb, body).value;
    assert.deepEqual([answer, state, drain_by], ["accepted", "draining", undefined], verb);
  }
  assert.equal(of.instance.attempts.free(), 0);
  ask(of, "kill", JSON.stringify({ run_id: RUN_ID }));
  await done;
});
