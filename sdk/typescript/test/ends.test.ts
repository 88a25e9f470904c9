import assert from "node:assert/strict";
import { test } from "node:test";

import type { NatsConnection } from "@nats-io/transport-node";

import { Bus } from "../src/bus";
import { Ends } from "../src/ends";
import type { Instance } from "../src/instance";
import { FakeNats, quiet, type Sent, settings } from "./nats";

const PACKS = "evt.p0.g";

/** Ends that go to a NATS which takes one message after the other when it is told to. */
function world(maxPayload = 1 << 20) {
  const nats = new FakeNats();
  const answers: ((answer: unknown) => void)[] = [];
  nats.info = { max_payload: maxPayload };
  nats.answer = () => new Promise((answer) => answers.push(answer));
  const bus = new Bus(nats as unknown as NatsConnection, settings(), quiet);
  const ends = new Ends({ bus, name: "i", spawn: () => {}, telemetry: { count: () => {} } } as unknown as Instance);
  let n = 0;
  const report = (sizes: number[], watched = false) =>
    sizes.map((size) => {
      const id = n++;
      const data = JSON.stringify({ kind: "finished", run_id: id, message: "x".repeat(size) });
      return ends.untilStored(watched ? undefined : PACKS, { subject: "evt.3.g", data, headers: { "Carillon-Token": `token-${id}` } });
    });
  const reply = async (answer: unknown = { stream: "EVT", seq: 1 }) => {
    answers.shift()?.(answer);
    await new Promise((done) => setImmediate(done));
  };
  return { nats, bus, report, reply, runs: () => nats.sent.map(runs) };
}

/** The runs whose ends a message has. */
function runs(m: Sent): number[] {
  if (m.subject !== PACKS) {
    return [JSON.parse(m.data).run_id];
  }
  const [head, ...lines] = m.data.split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(head, { instance: "i", ends: lines.length });
  assert.equal(m.headers["Carillon-Message"], "events.v1");
  assert.match(m.headers["Nats-Msg-Id"] ?? "", /^p:[A-Za-z0-9_-]{22}$/);
  assert.ok(!("Carillon-Token" in m.headers));
  return lines.map((line) => {
    assert.deepEqual([line.kind, line.token], ["finished", `token-${line.run_id}`]);
    return line.run_id;
  });
}

test("a lone end goes at once, and what comes meanwhile in one message", async () => {
  const of = world();
  const stored = of.report([0, 0, 0]);
  assert.deepEqual(of.runs(), [[0]]);
  await of.reply();
  assert.equal(await stored[0], true);
  assert.deepEqual(of.runs(), [[0], [1, 2]]);
  await of.reply();
  assert.deepEqual(await Promise.all(stored), [true, true, true]);
});

test("ends that somebody waits for go alone", () => {
  const of = world();
  of.report([0, 0], true);
  assert.deepEqual(of.runs(), [[0], [1]]);
});

test("a pack has bounds", async () => {
  const cases: [sizes: number[], first: number, maxPayload: number][] = [
    [Array(300).fill(0), 256, 1 << 20],
    [Array(20).fill(20_000), 13, 1 << 20],
    [Array(20).fill(20_000), 2, 48 << 10],
    [[0, 40_000, 0], 1, 1 << 20],
    [[40_000, 0, 0], 1, 1 << 20],
  ];
  for (const [sizes, first, maxPayload] of cases) {
    const of = world(maxPayload);
    const stored = of.report([0, ...sizes]);
    for (let i = 0; i <= sizes.length; i++) {
      await of.reply();
    }
    await Promise.all(stored);
    assert.equal(of.runs()[1]?.length, first);
    assert.deepEqual(of.runs().flat(), [...stored.keys()]);
    assert.ok(of.nats.sent.every((m) => Buffer.byteLength(m.data) <= Math.min(256 << 10, maxPayload - (4 << 10))));
  }
});

test("a pack is sent again with the same id, and falls apart if NATS comes back with a smaller limit", async () => {
  const of = world();
  const stored = of.report([0, 20_000, 20_000]);
  await of.reply();
  of.nats.answer = ({ subject }) => {
    const packs = of.nats.sent.filter((m) => m.subject === PACKS);
    if (packs.length === 2) {
      of.nats.info = { max_payload: 32 << 10 };
    }
    return subject === PACKS ? new Error("timeout") : { stream: "EVT", seq: 1 };
  };
  await of.reply(new Error("timeout"));
  assert.deepEqual(await Promise.all(stored), [true, true, true]);
  const [, first, again] = of.nats.sent;
  assert.deepEqual(of.runs(), [[0], [1, 2], [1, 2], [1], [2]]);
  assert.deepEqual(again, first);
});

test("ends are not stored if the connection is closed", async () => {
  const of = world();
  const stored = of.report([0, 0]);
  await of.bus.close();
  await of.reply(new Error("closed"));
  assert.deepEqual(await Promise.all(stored), [false, false]);
});
