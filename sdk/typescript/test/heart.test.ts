import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { Heart } from "../src/heart";
import { ConflictError, Executor } from "../src/index";
import { Logger } from "../src/log";
import { instanceOf } from "./nats";

const KEY = "$KV.INST.g.i";
const GET = `$JS.API.DIRECT.GET.KV_INST.${KEY}`;
const WRONG_SEQUENCE = { error: { err_code: 10071, description: "wrong last sequence" } };

/** Introduce an instance where there is a heartbeat of its name, on virtual time. */
async function introduce(
  t: TestContext,
  sequence: () => number,
  beat: Record<string, unknown> | (() => Record<string, unknown> | Error | null),
  stored = (expected: string | undefined): unknown => (expected === "7" || expected === undefined ? { stream: "KV_INST", seq: 8 } : WRONG_SEQUENCE),
) {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: string[] = [];
  const of = instanceOf(new Executor(), {}, new Logger((level, text) => lines.push(`${level} ${text}`)));
  const beats: (string | undefined)[] = []; // the sequences that were expected
  of.nats.answer = ({ subject, headers }) => {
    if (subject === GET) {
      return typeof beat === "function" ? beat() : beat;
    }
    const expected = headers["Nats-Expected-Last-Subject-Sequence"];
    beats.push(expected);
    return stored(expected);
  };
  of.nats.answerHeaders = () => ({ "Nats-Sequence": String(sequence()) });
  let over = false;
  const done = new Heart(of.instance).introduce(new AbortController().signal).finally(() => {
    over = true;
  });
  done.catch(() => {});
  while (!over) {
    await new Promise(setImmediate);
    now += 1000;
    assert.ok(now < 120_000, "it goes on");
    t.mock.timers.tick(1000);
  }
  return { done, took: now, beats, lines };
}

test("an instance whose name another one has, which lives, stops with what to do", async (t) => {
  let sequence = 7;
  const { done } = await introduce(t, () => sequence++, { host: "web1", pid: 4711, control_secret: "x" });
  await assert.rejects(done, (e) => e instanceof ConflictError && /instance i of group g lives on host web1, process 4711: give each .*CARILLON_INSTANCE/.test(e.message));
});

test("an instance gets the name of one that died, after 15 s", async (t) => {
  const { done, took } = await introduce(t, () => 7, { host: "web1", control_secret: "x" });
  await done;
  assert.ok(took >= 15_000 && took < 25_000, `it took ${took} ms`);
});

test("a replica that shows an older heartbeat, or none yet, makes no conflict", async (t) => {
  let looks = 0;
  const dead = { host: "web1", control_secret: "x" };
  const sequence = () => [6, 7][looks - 1] ?? 7;
  const { done } = await introduce(t, sequence, () => {
    looks++;
    return dead;
  });
  await done;
});

test("a heartbeat that cannot be read yet is looked for again, a second later", async (t) => {
  let looks = 0;
  const { done, took } = await introduce(t, () => (looks > 10 ? 7 : 0), () => (++looks > 10 ? { host: "web1", control_secret: "x" } : null));
  await done;
  assert.ok(took >= 25_000 && took < 35_000, `it took ${took} ms`);
});

const times = (n: number, expected: string) => Array.from({ length: n }, () => expected);

for (const [why, answer] of [["none is found", null], ["nobody answers", new Error("no responders")]] as const) {
  test(`a heartbeat that cannot be read counts as gone after 15 s: ${why}`, async (t) => {
    const { done, beats, lines } = await introduce(t, () => 0, () => answer);
    await done;
    assert.deepEqual(beats, [...times(16, "0"), undefined]);
    assert.deepEqual(lines, ["info waiting: the heartbeat of instance i cannot be read; if that lasts 15 s, the instance counts as gone"]);
  });
}

test("a heartbeat that was read does not count as gone for as long", async (t) => {
  let looks = 0;
  const { done, beats } = await introduce(t, () => (looks === 11 ? 7 : 0), () => (++looks === 11 ? { host: "web1", control_secret: "x" } : null));
  await done;
  assert.deepEqual(beats, [...times(26, "0"), undefined]);
});

test("a heartbeat that is removed while it cannot be read is expected no more", async (t) => {
  let looks = 0;
  const { done, beats } = await introduce(t, () => (looks === 1 ? 6 : 0), () => (++looks, null), (expected) => (looks === 3 && expected === "0" ? { stream: "KV_INST", seq: 8 } : WRONG_SEQUENCE));
  await done;
  assert.deepEqual(beats, ["0", "6", "0", "0"]);
});

test("a heartbeat that NATS does not store restarts the wait", async (t) => {
  let failed = false;
  const { done, beats } = await introduce(t, () => 0, () => null, (expected) => {
    if (expected !== undefined) {
      return WRONG_SEQUENCE;
    }
    const first = !failed;
    failed = true;
    return first ? new Error("no responders") : { stream: "KV_INST", seq: 8 };
  });
  await done;
  assert.deepEqual(beats, [...times(16, "0"), undefined, ...times(16, "0"), undefined]);
});

test("an announcement that NATS does not take is given up with an error", async () => {
  const errors: string[] = [];
  const log = new Logger((level, text) => errors.push(`${level} ${text}`));
  const app = new Executor().handler("big", { description: "x".repeat(20_000) }, () => 1).handler("huge", { description: "x".repeat(33_000) }, () => 1).handler("small", () => 1);
  const of = instanceOf(app, {}, log);
  of.nats.info = { max_payload: 12 << 10 };
  new Heart(of.instance).announce();
  await new Promise(setImmediate);
  const other = instanceOf(app, {}, log);
  new Heart(other.instance).announce();
  await new Promise(setImmediate);
  assert.deepEqual(other.nats.sent.length, 2);
  assert.deepEqual(of.nats.sent.map((s) => s.subject), [`$KV.HANDLER.g.${Buffer.from("small").toString("base64url")}`]);
  assert.match(errors.join("\n"), /^error handler big [^\n]* allows 12288: .*\nerror handler huge [^\n]*\nerror handler huge [^\n]* allows 32768: [^\n]*$/);
});

test("a heartbeat names this version of the SDK, and what runs here", () => {
  const { instance, nats } = instanceOf(new Executor().handler("b", () => 1).handler("a", () => 1), { labels: { zone: "eu" } });
  new Heart(instance).beat();
  const beat = JSON.parse(nats.of(KEY)[0] ?? "");
  const { version } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));
  assert.deepEqual([beat.sdk, beat.handlers, beat.zone, beat.protocol], [`carillon-typescript/${version}`, ["a", "b"], "eu", 3]);
  const golden = JSON.parse(readFileSync(join(__dirname, "../../../../bus/testdata/instance.json"), "utf8"));
  assert.deepEqual(Object.keys(golden).filter((name) => !(name in beat)), []);
});
