import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";

import { Executor, Final, type Run } from "../src/index";
import { ask, instanceOf, message, type Of, promise, raw, REPLY, trigger } from "./nats";

const RUN_ID = JSON.parse(raw()).run_id;
const EVENTS = "evt.3.g";

test("a request that makes no sense is answered with a fault", () => {
  const wrong = [
    ["attempts", '{"attempts": [{}]}'], ["attempts", '{"attempts": 7}'], ["attempts", '{"attempts": ["x"]}'], ["kill", "{}"], ["kill", "[]"],
    ["set", '{"slots": 0}'], ["set", '{"slots": true}'], ["set", '{"labels": {"a": 1}}'], ["drain", '{"within": 7}'], ["drain", "no json"],
    ["drain", '{"within": "soon"}'], ["idle", '"x"'], ["run", "{}"], ["dance", ""], ["constructor", ""],
  ] as const;
  for (const [verb, body] of wrong) {
    const of = instanceOf(new Executor());
    assert.equal(ask(of, verb, body).fault?.kind, "invalid", `${verb} ${body}`);
    assert.deepEqual([of.instance.attempts.live.size, of.instance.state], [0, "online"]);
  }
});

test("a message that JetStream may have sent is dropped without an answer", () => {
  const of = instanceOf(new Executor());
  assert.equal(ask(of, "drain", "", { "Nats-Sequence": "1" }), null);
  assert.equal(ask(of, "drain", "", { "Carillon-Message": "other" }), null);
  assert.equal(ask(of, "beat", "", { "Nats-Request-Info": "{}" }).value.answer, "accepted");
});

test("the end of a run is stored before it is acknowledged", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", (run) => run.log.info("one")));
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
  const order = nats.sent.map((s) => s.subject);
  assert.deepEqual(order, [`log.g.${RUN_ID}`, EVENTS, REPLY]);
  const end = JSON.parse(nats.of(EVENTS)[0] ?? "");
  assert.deepEqual([end.status, end.log_lines, end.instance, end.delivery], ["succeeded", 1, "i", 1]);
  assert.deepEqual(nats.sent[1]?.headers, { "Carillon-Message": "event.v1", "Carillon-Token": "token", "Nats-Msg-Id": `${RUN_ID}:1:finished:token` });
  assert.equal(instance.attempts.custody(trigger().key), "reported");
});

test("an end that NATS does not take is stored without its result, and says so", async () => {
  for (const work of [() => "x".repeat(20_000), () => Promise.reject(new Final("boom ".repeat(3000)))]) {
    const { instance, nats } = instanceOf(new Executor().handler("h", work));
    nats.info = { max_payload: 12 << 10 };
    instance.attempts.start(trigger(), REPLY);
    await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
    const end = JSON.parse(nats.of(EVENTS)[0] ?? "");
    assert.match(end.message, /set max_payload to at least 1MB/);
    assert.ok(end.result === undefined && end.message.length <= 1024 && end.message.includes("boom") === (end.status === "failed"));
  }
});

test("an end that NATS takes no more when it comes back is stored without its result, and says so", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => "x".repeat(20_000)));
  nats.answer = () => {
    const away = nats.info === undefined;
    nats.info = { max_payload: 12 << 10 };
    return away ? new Error("away") : { stream: "EVT", seq: 1 };
  };
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
  const ends = nats.of(EVENTS).map((end) => JSON.parse(end));
  assert.deepEqual(ends.map((end) => [end.status, end.result?.length]), [["succeeded", 20_000], ["succeeded", undefined]]);
  assert.match(ends[1].message, /set max_payload to at least 1MB/);
});

test("an end that is not stored when the connection is closed is not acknowledged", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  nats.answer = () => new Error("away");
  const settled = new Promise((resolve) => {
    instance.attempts.settled = (_, stored) => resolve(stored);
  });
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.subject === EVENTS);
  await instance.bus.close();
  assert.equal(await settled, false);
  assert.deepEqual(nats.of(REPLY), []);
});

test("lines that NATS does not take as one message come in several, and one that is too long is cut", async () => {
  for (const text of ["x".repeat(20_000), "ü".repeat(10_000), "\u0001".repeat(20_000)]) {
    const work = (run: Run) => {
      for (let n = 0; n < 150; n++) {
        run.log.info(`line ${n} ${"y".repeat(50)}`);
      }
      run.log.info(text);
    };
    const { instance, nats } = instanceOf(new Executor().handler("h", work));
    nats.info = { max_payload: 12 << 10 };
    instance.attempts.start(trigger(), REPLY);
    await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
    const batches = nats.of(`log.g.${RUN_ID}`);
    assert.ok(batches.length > 2 && batches.every((b) => Buffer.byteLength(b) <= 8 << 10));
    const lines = batches.flatMap((b) => JSON.parse(b).lines);
    assert.deepEqual(lines.map((l) => l.seq), Array.from({ length: 151 }, (_, i) => i + 1));
    assert.equal(lines[7].text, `line 7 ${"y".repeat(50)}`);
    const cut = lines[150].text;
    assert.ok(cut.endsWith("…") && text.startsWith(cut.slice(0, -1)) && cut.length > 500);
  }
});

test("a failure logs its stack and cause, and what a handler throws on purpose does not", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => Promise.reject(new Error("no", { cause: new Error("db is away") }))));
  instance.attempts.start(trigger({ retry: { limit: 1, on: ["failed"] } }), REPLY);
  await nats.until((s) => s.data === "+ACK");
  assert.match(nats.of(`log.g.${RUN_ID}`).join(), /db is away/);
  assert.equal(JSON.parse(nats.of(EVENTS)[0] ?? "").retry, true);
});

test("an error that cannot say what it is fails its run, and does not keep it", async () => {
  class Mute extends Error {
    constructor(private readonly what: string) {
      super("boom");
      for (const field of ["message", "name", "stack"].filter((f) => f === what)) {
        Object.defineProperty(this, field, { get: () => this.refuse() });
      }
    }

    [inspect.custom](): string {
      return this.what === "inspect" ? this.refuse() : "shown";
    }

    private refuse(): string {
      throw new Error("no");
    }
  }
  for (const [what, message] of [["inspect", "Mute: boom"], ["message", "Mute"], ["name", "boom"], ["stack", "Mute: boom"]] as const) {
    const { instance, nats } = instanceOf(new Executor().handler("h", () => Promise.reject(new Mute(what))));
    instance.attempts.start(trigger(), REPLY);
    await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
    const end = JSON.parse(nats.of(EVENTS)[0] ?? "");
    assert.deepEqual([end.status, end.message], ["failed", message], what);
    assert.match(nats.of(`log.g.${RUN_ID}`).join(), what === "inspect" ? /Mute/ : /shown/);
  }
  for (const thrown of [Object.create(null), new Proxy({}, { getPrototypeOf: () => assert.fail() })]) {
    const { instance, nats } = instanceOf(new Executor().handler("h", () => Promise.reject(thrown)));
    instance.attempts.start(trigger(), REPLY);
    await nats.until((s) => s.subject === REPLY && s.data === "+ACK");
    assert.equal(JSON.parse(nats.of(EVENTS)[0] ?? "").status, "failed");
  }
});

test("an at_most_once attempt has not started before it is claimed", async (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  nats.answer = ({ subject }) => (subject.includes("$KV.CLAIM.") ? new Error("away") : { stream: "EVT", seq: 1 });
  instance.attempts.start(trigger({ delivery: "at_most_once" }), REPLY);
  await nats.until((s) => s.subject.startsWith("$KV.CLAIM."));
  now = 2000;
  instance["lookAtAttempts"]();
  assert.deepEqual(nats.of(EVENTS), []);
  instance.attempts.kill(RUN_ID, "cancelled by ann");
});

test("a killed run ends as cancelled, with who and why", async () => {
  const of = instanceOf(new Executor().handler("h", (run) => new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)))));
  of.instance.attempts.start(trigger({ broadcast_total: 2 }), REPLY);
  const answer = ask(of, "kill", JSON.stringify({ run_id: RUN_ID, by: "ann", reason: "wrong day" }));
  assert.deepEqual(answer.value.pieces, [0]);
  await of.nats.until((s) => s.data === "+ACK");
  const end = JSON.parse(of.nats.of(EVENTS)[0] ?? "");
  assert.deepEqual([end.status, end.message], ["cancelled", "cancelled by ann: wrong day"]);
});

test("the slots of a handler are its own: what it cannot begin is for others", async () => {
  const of = instanceOf(new Executor().handler("h", { slots: 1 }, () => new Promise(() => {})).handler("other", () => 1), { slots: 8 });
  of.instance.attempts.take(message("inbox", raw(), { reply: REPLY }));
  const second = { run_id: RUN_ID.replace("019b", "019c") };
  of.instance.attempts.take(message("inbox", raw(second), { reply: REPLY.replace(".17.", ".18.") }));
  const handed = await of.nats.until((s) => s.subject === "hand.g");
  assert.equal(handed.headers["Carillon-Ack"], REPLY.replace(".17.", ".18."));
  assert.equal(of.instance.attempts.live.size, 1);
  const headers = { "Carillon-Ack": REPLY };
  assert.equal(ask(of, "run", raw(second), headers).value.answer, "busy");
  assert.equal(ask(of, "run", raw({ ...second, task: { handler: "other" } }), headers).value.answer, "accepted");
});

test("beside a run whose executor died no other begins", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const of = instanceOf(new Executor().handler("h", () => new Promise(() => {})), { slots: 8 });
  const offer = (attempt: number, alone?: string) =>
    ask(of, "run", raw({ attempt }), { "Carillon-Ack": REPLY, ...(alone === undefined ? {} : { "Carillon-Alone": alone }) });
  for (const wrong of ["x", "0", "3601", "-1"]) {
    assert.equal(offer(1, wrong).fault.kind, "invalid");
  }
  assert.equal(offer(1, "60").value.answer, "accepted");
  assert.equal(of.instance.attempts.free(), 0);
  assert.equal(offer(2).value.answer, "busy");
  now = 61_000; // its time is over
  assert.equal(offer(2).value.answer, "accepted");
  assert.equal(offer(3, "60").value.answer, "busy");
});

test("a trigger of a version that is not known is handed over unread", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  nats.answer = () => ({ value: {} });
  instance.attempts.kill(RUN_ID, "wrong day");
  for (const body of ['{"v2": true}', raw()]) {
    instance.attempts.take(message("inbox", body, { reply: REPLY, headers: { "Carillon-Message": "trigger.v2" } }));
    assert.equal(instance.attempts.free(), instance.slots - 1); // a server may offer it back
  }
  await nats.until(() => nats.sent.length >= 2);
  assert.deepEqual(nats.sent.map((s) => [s.subject, s.headers["Carillon-Ack"]]), [["hand.g", REPLY], ["hand.g", REPLY]]);
  assert.equal(instance.attempts.live.size, 0);
});

test("an at_most_once attempt that another instance has claimed is dropped", async () => {
  let called = false;
  const { instance, nats } = instanceOf(new Executor().handler("h", () => {
    called = true;
  }));
  const dropped = promise();
  instance.attempts.settled = () => dropped.resolve();
  nats.answer = () => ({ error: { err_code: 10071, description: "wrong last sequence" } });
  instance.attempts.start(trigger({ delivery: "at_most_once" }), REPLY);
  await dropped.done;
  assert.deepEqual([called, nats.of(REPLY), nats.of(EVENTS)], [false, [], []]);
  assert.equal(nats.sent[0]?.subject, `$KV.CLAIM.g.${RUN_ID}-1-0`);
});

test("a claim whose answer was lost, and which cannot be read yet, is read until it can", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  let claims = 0;
  let reads = 0;
  nats.answer = ({ subject }) => {
    if (subject.startsWith("$JS.API.DIRECT.GET.KV_CLAIM.")) {
      return reads++ === 0 ? null : JSON.parse(nats.of(`$KV.CLAIM.g.${RUN_ID}-1-0`)[0] ?? "");
    }
    if (!subject.startsWith("$KV.CLAIM.")) {
      return { stream: "EVT", seq: 1 };
    }
    return claims++ === 0 ? new Error("timeout") : { error: { err_code: 10071, description: "wrong last sequence" } };
  };
  instance.attempts.start(trigger({ delivery: "at_most_once" }), REPLY);
  await nats.until((s) => s.data === "+ACK");
  assert.equal(JSON.parse(nats.of(EVENTS)[0] ?? "").status, "succeeded");
});

test("an attempt that has to end while it cannot be claimed ends", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  nats.answer = ({ subject }) => (subject.includes("$KV.CLAIM.") ? new Error("away") : { stream: "EVT", seq: 1 });
  instance.attempts.start(trigger({ delivery: "at_most_once" }), REPLY);
  await nats.until((s) => s.subject.startsWith("$KV.CLAIM."));
  instance.attempts.kill(RUN_ID, "cancelled by ann");
  await nats.until((s) => s.data === "+ACK");
  assert.equal(JSON.parse(nats.of(EVENTS)[0] ?? "").status, "cancelled");
  await new Promise(setImmediate);
  assert.doesNotMatch(nats.of(`$KV.CLAIM.g.${RUN_ID}-1-0`).join(), /ended/); // another may have claimed it
});

test("a task with secrets that this executor cannot open fails, with what to do", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 1));
  instance.attempts.start(trigger({ task: { handler: "h", secrets: { PASSWORD: "db" } } }), REPLY);
  await nats.until((s) => s.data === "+ACK");
  assert.match(JSON.parse(nats.of(EVENTS)[0] ?? "").message, /set CARILLON_SECRET_KEY_FILE/);
});

test("triggers that were on their way when their request was given up are done, or given back", async () => {
  const giveUps = [
    [(of: Of) => of.instance.set(8, undefined), "+ACK"], [(of: Of) => of.instance.bus.onReconnect(), "+ACK"],
    [(of: Of) => of.instance.pullFrom([{ stream: "TRIG2", consumer: "any-g" }]), "+ACK"], [(of: Of) => ask(of, "cordon"), "-NAK"],
    [(of: Of) => ask(of, "drain"), "-NAK"],
  ] as const;
  for (const [giveUp, answer] of giveUps) {
    const of = instanceOf(new Executor().handler("h", () => undefined), { slots: 4 });
    of.instance["introduced"] = true;
    of.instance.slotFree();
    const inbox = of.nats.listeners.at(-1)?.subject ?? "";
    const pong = promise();
    of.nats.onPing = () => pong.done;
    giveUp(of);
    of.nats.deliver(inbox, message(inbox, raw(), { reply: REPLY }));
    await of.nats.until((s) => s.subject === REPLY && s.data.startsWith(answer));
    pong.resolve();
    await new Promise(setImmediate);
    assert.ok(of.nats.listeners.every((l) => l.subject !== inbox), "its inbox has a listener still");
  }
});

test("what NATS says of a request that was given up says nothing of its consumer", () => {
  const of = instanceOf(new Executor());
  of.instance["introduced"] = true;
  of.instance.slotFree();
  const inbox = of.nats.listeners.at(-1)?.subject ?? "";
  of.nats.onPing = () => new Promise(() => {});
  of.instance.set(8, undefined);
  of.nats.deliver(inbox, Object.assign(message(inbox, ""), { headers: { code: 409 } }));
  of.instance.slotFree();
  assert.equal(of.nats.of("$JS.API.CONSUMER.MSG.NEXT.TRIG.any-g").length, 2);
});

test("what changes while the first heartbeat is being stored is told after it", () => {
  const of = instanceOf(new Executor());
  of.instance.set(2, { zone: "eu" });
  assert.equal(of.nats.of("$KV.INST.g.i").length, 0);
  of.instance["online"]();
  assert.equal(JSON.parse(of.nats.of("$KV.INST.g.i")[0] ?? "{}").slots, 2);
  of.instance["online"]();
  assert.equal(of.nats.of("$KV.INST.g.i").length, 1, "nothing has changed since");
});

test("a pull request whose slots other runs have taken is given up", () => {
  const of = instanceOf(new Executor().handler("h", () => new Promise(() => {})), { slots: 4 });
  of.instance["introduced"] = true;
  of.instance.slotFree();
  const inbox = of.nats.listeners.at(-1)?.subject ?? "";
  of.nats.onPing = () => new Promise(() => {}); // its listener stays, for what is on its way
  const asked = () => of.nats.of("$JS.API.CONSUMER.MSG.NEXT.TRIG.any-g").map((body) => JSON.parse(body).batch as number);
  const look = () => of.instance["puller"].look(of.instance.attempts.free());
  look();
  assert.deepEqual(asked(), [4]);
  of.instance.attempts.start(trigger(), REPLY);
  look();
  assert.deepEqual(asked(), [4, 3]);
  of.nats.deliver(inbox, message(inbox, raw({ attempt: 2 }), { reply: REPLY }));
  look();
  assert.equal(of.instance.attempts.live.size, 2);
});

test("slots that become free are asked for at once, and not one by one", async () => {
  const { instance, nats } = instanceOf(new Executor().handler("h", () => undefined));
  instance.slots = 8;
  instance["introduced"] = true;
  for (let n = 0; n < 8; n++) {
    instance.attempts.start(trigger({ run_id: `${RUN_ID.slice(0, -1)}${n}` }), REPLY);
  }
  instance.slotFree();
  const asked = () => nats.of("$JS.API.CONSUMER.MSG.NEXT.TRIG.any-g").map((body) => JSON.parse(body).batch as number);
  assert.deepEqual(asked(), []);
  await nats.until(() => instance.attempts.live.size === 0);
  assert.equal(asked().reduce((a, b) => a + b), 8);
  assert.ok(asked().length < 8, `${asked()}`);
});
