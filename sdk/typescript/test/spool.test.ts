import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import type { NatsConnection } from "@nats-io/transport-node";

import { Bus } from "../src/bus";
import { ConfigurationError, Executor } from "../src/index";
import { Spool } from "../src/spool";
import { FakeNats, instanceOf, quiet, REPLY, settings, trigger } from "./nats";

function folder(): string {
  return mkdtempSync(join(tmpdir(), "carillon-"));
}

test("an end is on disk while NATS does not take it, and the next process reports it", async () => {
  const spool = folder();
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 7), { spool });
  nats.answer = () => new Error("away");
  instance.attempts.start(trigger(), REPLY);
  const { data, headers } = await nats.until((s) => s.subject === "evt.3.g");
  await instance.bus.close(); // as a kill would
  const [file = ""] = readdirSync(spool);
  assert.deepEqual(JSON.parse(readFileSync(join(spool, file), "utf8")), { subject: "evt.3.g", headers, data });
  assert.equal(statSync(join(spool, file)).mode & 0o077, 0);

  const next = new FakeNats();
  const bus = new Bus(next as unknown as NatsConnection, settings(), quiet);
  await new Spool(spool, 1 << 20, quiet).report(bus, new AbortController().signal);
  assert.deepEqual(next.sent, [{ subject: "evt.3.g", data, headers }]);
  assert.deepEqual(readdirSync(spool), []);
});

test("an end of an earlier process that NATS does not take is made shorter", async () => {
  const spool = folder();
  const data = JSON.stringify({ run_id: "r", status: "succeeded", result: "x".repeat(20_000) });
  writeFileSync(join(spool, "a.json"), JSON.stringify({ subject: "evt.3.g", headers: {}, data }));
  const nats = new FakeNats();
  nats.answer = () => {
    const away = nats.info === undefined;
    nats.info = { max_payload: 16 << 10 };
    return away ? new Error("away") : { stream: "EVT", seq: 1 };
  };
  const bus = new Bus(nats as unknown as NatsConnection, settings(), quiet);
  await new Spool(spool, 1 << 20, quiet).report(bus, AbortSignal.timeout(2000));
  const end = JSON.parse(nats.of("evt.3.g")[1] ?? "{}");
  assert.deepEqual([end.run_id, end.status, end.result], ["r", "succeeded", undefined]);
  assert.match(end.message, /set max_payload to at least 1MB/);
  assert.deepEqual(readdirSync(spool), []);
});

test("a spool that cannot be made or written is refused at the start", async () => {
  const parent = folder();
  writeFileSync(join(parent, "file"), "");
  for (const spool of [join(parent, "file"), join(parent, "file", "below"), "/proc"]) {
    const app = new Executor({ group: "g", nats: "nats://127.0.0.1:9", spool });
    await assert.rejects(app.serve(), (e) => e instanceof ConfigurationError && /^spool ".*" \(CARILLON_SPOOL\) must be a folder/.test(e.message));
  }
  await new Spool(join(parent, "a", "b"), 1, quiet).open();
  assert.deepEqual(readdirSync(join(parent, "a", "b")), []);
});

test("an end that is stored leaves nothing on disk", async () => {
  const spool = folder();
  const { instance, nats } = instanceOf(new Executor().handler("h", () => 7), { spool });
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.data === "+ACK");
  assert.deepEqual(readdirSync(spool), []);
});

test("what is no end is set aside, and a full spool keeps nothing", async () => {
  const spool = folder();
  writeFileSync(join(spool, "a.json"), "{}");
  writeFileSync(join(spool, "b.json"), JSON.stringify({ subject: "evt.3.g", headers: {}, data: "half" }));
  const bus = new Bus(new FakeNats() as unknown as NatsConnection, settings(), quiet);
  await new Spool(spool, 1, quiet).report(bus, new AbortController().signal);
  assert.deepEqual(readdirSync(spool), ["a.json.refused", "b.json.refused"]);
  await new Spool(spool, 1, quiet).keep("evt.3.g", "{}", {});
  assert.deepEqual(readdirSync(spool), ["a.json.refused", "b.json.refused"]);
});
