import { expect, it } from "vitest";
import { loadPages } from "@/i18n";
import { en } from "@/i18n/en";
import { zh } from "@/i18n/zh";
import { makeFormat, type PageWords } from "@/lib/format";
import { at } from "@/test/factories";
import { stateOf, stepsOfJob, stepsOfRun } from "./document";
import { type Awaited, waitInBrief, waitInWords } from "./wait";

const now = Date.parse(at(0));
const english: PageWords = { t: { ...en, ...(await loadPages("en")) }, f: makeFormat("en", "UTC") };
const chinese: PageWords = { t: { ...zh, ...(await loadPages("zh")) }, f: makeFormat("zh", "UTC") };
const said = (wait: Awaited) => [
  waitInBrief(wait, now, english),
  waitInWords(wait, now, english),
  waitInWords(wait, now, chinese),
];

it("says until when a step waits, with the day only if it is another one", () => {
  expect(said({ kind: "time", at: "2026-01-05T22:00:00Z" })).toEqual([
    "until 22:00",
    "until 22:00",
    "到 22:00",
  ]);
  expect(said({ kind: "time", at: "2026-01-06T22:00:00Z" })[0]).toBe("until 6 Jan 22:00");
  expect(said({ kind: "time", lasts: "90s" })[0]).toBe("for 1m 30s");
  expect(said({ kind: "time", until: "${params.at}" })[0]).toBe("until ${params.at}");
});

it("says which signal a step waits for, and with which key", () => {
  expect(said({ kind: "signal", signal: "paid", key: "17" })).toEqual([
    "signal paid",
    "signal paid with key 17",
    "信号 paid，键 17",
  ]);
});

it("says who may approve a step, and how many have", () => {
  expect(said({ kind: "approval" })).toEqual(["approval", "approval by role Operator", "由运维角色审批"]);
  const approvals = [{ by: "li.wei", at: at(0) }];
  expect(said({ kind: "approval", by: ["user:li.wei", "role:editor"], min: 2, approvals })).toEqual([
    "1 of 2 approvals",
    "approval by li.wei or role Editor, 1 of 2 given",
    "由 li.wei 或编辑角色审批，已通过 1/2",
  ]);
});

it("says which runs a step waits for, and how many of them are there", () => {
  const runs = { job: "etl/hour" };
  expect(said({ kind: "runs", runs })).toEqual(["runs of etl/hour", "runs of etl/hour", "etl/hour 的运行"]);
  expect(said({ kind: "runs", runs, met: 22, of: 24 })).toEqual([
    "22 of 24 runs",
    "runs of etl/hour, 22 of 24 are there",
    "etl/hour 的运行，已有 22/24",
  ]);
});

it("reads the waits of a document, whatever is wrong with them", () => {
  const steps = [
    { step: "a", wait: { for: "10m" } },
    { step: "b", wait: { signal: "paid", key: "17", expires: "2d" } },
    { step: "c", wait: { approval: { by: "role:operator" } } },
    { step: "d", wait: { runs: null } },
    { step: "e", wait: {} },
    { step: "f", wait: "10m" },
  ];
  const read = stepsOfJob({ steps } as never);
  expect(read.map((s) => s.kind)).toEqual(["wait", "wait", "wait", "wait", "wait", "other"]);
  expect(read.map((s) => s.wait && waitInBrief(s.wait, now, english))).toEqual([
    "for 10m",
    "signal paid",
    "approval",
    "runs of ",
    "until …",
    undefined,
  ]);
});

it("a step of a run waits for something once its wait has begun, until it ends", () => {
  const wait = { kind: "signal", signal: "paid" } as const;
  const step = { step: "paid", task: "wait", wait } as const;
  expect(stateOf({ ...step, state: "waiting" })).toBe("waiting");
  expect(stateOf({ ...step, state: "queued" })).toBe("queued");
  const begun = { ...step, wait: { ...wait, since: at(0) } };
  expect(stateOf({ ...begun, state: "queued" })).toBe("awaits_signal");
  expect(stateOf({ ...begun, state: "succeeded" })).toBe("succeeded");
  const [timed] = stepsOfRun([{ ...step, wait: { kind: "time" }, detail: "for 10m", state: "waiting" }]);
  expect(timed?.wait && waitInBrief(timed.wait, now, english)).toBe("for 10m");
  const [ended] = stepsOfRun([{ ...begun, state: "succeeded", finished_at: at(60) }]);
  expect(ended?.duration_ms).toBe(60_000);
});
