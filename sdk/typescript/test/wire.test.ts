import assert from "node:assert/strict";
import { test } from "node:test";

import { pieces } from "../src/pieces";
import { duration, instant, milliseconds } from "../src/time";
import { cut, delivery, Garbage, giveBack, MAX_LOG_TEXT } from "../src/wire";

test("durations are read and written", () => {
  const read: Array<[string, number]> = [["90s", 90_000], ["1h30m", 5_400_000], ["250ms", 250], ["2d", 172_800_000], ["", 0], ["0", 0], ["1m0.5s", 60_500]];
  for (const [text, ms] of read) {
    assert.equal(milliseconds(text), ms, text);
  }
  assert.equal(milliseconds(duration(90_000)), 90_000);
});

test("what is no duration is refused", () => {
  for (const text of ["90", "s", "1h 30m", "-5s", "1x"]) {
    assert.throws(() => milliseconds(text), /90s/, text);
  }
});

test("instants are read with any number of decimals, and what is none is refused", () => {
  assert.equal(instant("2026-01-05T02:00:00.123456789Z").toISOString(), "2026-01-05T02:00:00.123Z");
  assert.equal(instant("2026-01-05T03:00:00+01:00").toISOString(), "2026-01-05T02:00:00.000Z");
  for (const text of ["tomorrow", "2026-01-05", "2026-13-05T02:00:00Z", "2026-01-05T02:00:00"]) {
    assert.throws(() => instant(text), /2026-01-05T02:00:00Z/, text);
  }
});

test("deliveries are read from the reply subject", () => {
  assert.deepEqual(delivery("$JS.ACK.TRIG.any-billing.3.17.9.1767578400000000000.0"), { count: 3, sequence: 17 });
  assert.equal(delivery("$JS.ACK.hub.ACCT.TRIG.any-billing.2.7.7.1767578400000000000.0.rnd").count, 2);
  for (const reply of ["", "$JS.ACK.TRIG.any-billing.x.17.9.1767578400000000000.0", "a.b.c.d.e.f.g.h.i.j"]) {
    assert.throws(() => delivery(reply), Garbage, reply);
  }
});

test("a trigger is given back after 1 s at first, and 15 s at most", () => {
  assert.equal(giveBack(1), '-NAK {"delay": 1000000000}');
  assert.equal(giveBack(9), '-NAK {"delay": 15000000000}');
});

test("texts are cut at a character, and have no half ones", () => {
  assert.equal(cut("ü".repeat(10), 5), "üü");
  assert.equal(cut("a😀b", 4), "a");
  assert.equal(cut("ok \ud800"), "ok \ufffd");
});

test("a long line becomes several that fit", () => {
  for (const text of ["ü".repeat(40_000), "x".repeat(100_000), "😀".repeat(20_000)]) {
    const all = pieces(text);
    assert.ok(all.length > 1 && all.every((p) => Buffer.byteLength(p) <= MAX_LOG_TEXT && p.isWellFormed()));
    assert.equal(all.join("").replaceAll("…", ""), text);
    assert.ok(all[0]?.endsWith("…") && all.at(-1)?.startsWith("…"));
  }
});
