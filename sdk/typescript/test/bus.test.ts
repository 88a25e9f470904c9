import assert from "node:assert/strict";
import { test } from "node:test";

import type { NatsConnection } from "@nats-io/transport-node";

import { Bus, Refused } from "../src/bus";
import { FakeNats, quiet, settings } from "./nats";

function bus() {
  const nats = new FakeNats();
  return { nats, bus: new Bus(nats as unknown as NatsConnection, settings(), quiet) };
}

test("a message above the limit of NATS is refused with what to do", async () => {
  const of = bus();
  of.nats.info = { max_payload: 10 };
  await assert.rejects(of.bus.stored("evt.3.g", "x".repeat(11), {}), /it has 11 bytes, and NATS takes 10: raise max_payload/);
  assert.deepEqual(of.nats.sent, []);
});

test("a message that JetStream refuses is not stored, and one that it has already is", async () => {
  const of = bus();
  of.nats.answer = () => ({ error: { err_code: 10164, description: "no" } });
  await assert.rejects(of.bus.stored("evt.3.g", "{}", {}), (e) => e instanceof Refused && e.code === 10164);
  of.nats.answer = () => ({}); // such as a status without data
  await assert.rejects(of.bus.stored("evt.3.g", "{}", {}), /no acknowledgement/);
  of.nats.answer = () => ({ stream: "EVT", seq: 17, duplicate: true });
  await of.bus.stored("evt.3.g", "{}", {});
});

test("a message is published until it is stored, or the executor stops", async () => {
  const of = bus();
  of.nats.answer = () => (of.nats.sent.length < 2 ? new Error("timeout") : { stream: "EVT", seq: 1 });
  let repeats = 0;
  assert.equal(await of.bus.untilStored("evt.3.g", () => "{}", {}, { onRepeat: () => repeats++ }), true);
  assert.deepEqual([of.nats.sent.length, repeats], [2, 1]);
  assert.equal(await of.bus.untilStored("evt.3.g", () => "{}", {}, { stop: AbortSignal.abort() }), false);
});
