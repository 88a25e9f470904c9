import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

import { Executor, Logger } from "../src/index";
import { Requests } from "../src/requests";
import { instanceOf, message, raw, REPLY, trigger } from "./nats";

test("a handler that blocks the event loop is named, here and in its run's log, with what to do", async (t) => {
  let now = 1000;
  t.mock.method(performance, "now", () => now);
  const said: string[] = [];
  const app = new Executor().handler("h", () => {
    now += 5000; // as if it computed
  });
  const { instance, nats } = instanceOf(app, {}, new Logger((level, text) => said.push(`${level} ${text}`)));
  instance.blocked.start();
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.data === "+ACK");
  await instance.blocked.close();
  assert.match(said[0] ?? "", /^warn the event loop was blocked for 4\.9 s.*handlers at work: h\).*node:worker_threads/);
  assert.match(nats.of(`log.g.${trigger().runId}`).join(), /blocked for 4\.9 s/);
});

test("after a block that others may take for the end of this instance, what waits here is handed to a server", async (t) => {
  for (const [seconds, late] of [[20, true], [8, false]] as const) {
    let now = 1000;
    t.mock.method(performance, "now", () => now);
    const said: string[] = [];
    const began: string[] = [];
    const app = new Executor().handler("h", (run) => {
      began.push(run.id);
      if (began.length === 1) {
        now += seconds * 1000; // as if it computed
      }
    });
    const { instance, nats } = instanceOf(app, { slots: 8 }, new Logger((level, text) => said.push(`${level} ${text}`)));
    nats.answer = ({ subject }) => (subject === "hand.g" ? { value: {} } : { stream: "EVT", seq: 1 });
    let pong = () => {};
    const ponged = new Promise<void>((resolve) => {
      pong = resolve;
    });
    nats.onPing = () => ponged;
    instance.blocked.start();
    t.after(() => instance.blocked.close());
    instance["introduced"] = true;
    instance.slotFree();
    const inbox = nats.listeners.at(-1)?.subject ?? "";
    const come = (n: number) => {
      const run_id = trigger().runId.replace("019b8be1", `019b8be${n}`);
      nats.deliver(inbox, message(inbox, raw({ run_id }), { reply: REPLY.replace(".17.", `.${n}.`) }));
    };
    come(1);
    await nats.until((s) => s.data === "+ACK");
    come(2); // NATS had sent it before
    const handed = () => nats.sent.filter((s) => s.subject === "hand.g").map((s) => s.headers["Carillon-Ack"]);
    assert.deepEqual(handed(), late ? [REPLY.replace(".17.", ".2.")] : []);
    const subject = `exec.g.i-${instance.secret}.run`;
    const headers = { "Carillon-Message": "request.v1", "Carillon-Ack": REPLY.replace(".17.", ".3.") };
    new Requests(instance).hear(message(subject, raw({ run_id: trigger().runId.replace("019b8be1", "019b8be3") }), { reply: "answer", headers }));
    assert.equal(JSON.parse(nats.of("answer")[0] ?? "").value.answer, late ? "busy" : "accepted");
    assert.equal(instance["introduced"], !late); // its heartbeat may be forgotten

    pong();
    await new Promise(setImmediate);
    instance.attempts.take(message(inbox, raw({ run_id: trigger().runId.replace("019b8be1", "019b8be4") }), { reply: REPLY }));
    await new Promise(setImmediate);
    assert.equal(handed().length, late ? 1 : 0);
    assert.equal(began.length, late ? 2 : 4);
    assert.equal(/blocked for 19\.9 s.*may have been given to other instances.*at work: h/.test(said.join()), late, said.join());
  }
});

test("blocks count together until all is here that NATS had sent", async (t) => {
  let now = 1000;
  t.mock.method(performance, "now", () => now);
  const app = new Executor().handler("h", () => {
    now += 8000; // as if it computed
  });
  const { instance, nats } = instanceOf(app);
  const pongs: (() => void)[] = [];
  nats.onPing = () => new Promise((resolve) => pongs.push(resolve));
  instance.blocked.start();
  t.after(() => instance.blocked.close());
  for (let n = 0; n < 2; n++) {
    assert.equal(instance.isLate(), false);
    instance.attempts.start(trigger({ attempt: n + 1 }), REPLY);
    await nats.until(() => nats.of(REPLY).length > n);
  }
  assert.equal(instance.isLate(), true);
  pongs[0]?.();
  await new Promise(setImmediate);
  assert.equal(instance.isLate(), true); // it is the answer to an earlier PING
  for (const pong of pongs) {
    pong();
  }
  await new Promise(setImmediate);
  assert.equal(instance.isLate(), false);
});

for (const [how, before] of [["", ""], [", also in a bundle, which rewrites functions", 'Function.prototype.toString = () => "() => { __require(1); }";']] as const) {
  test(`a handler that never ends is named while it blocks${how}`, async () => {
    const program = `
      ${before}
      const { Blocked } = require(${JSON.stringify(join(__dirname, "../src/blocked.js"))});
      const blocked = new Blocked(undefined, new Map());
      blocked.start(40);
      blocked.begins("report");
      setTimeout(() => { for (;;); }, 50);
    `;
    const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "pipe"] });
    const [said] = await once(child.stderr, "data");
    child.kill("SIGKILL");
    assert.match(String(said), /WARN carillon: the event loop has been blocked .*the last run that began is of handler report.*node:worker_threads/);
  });
}
