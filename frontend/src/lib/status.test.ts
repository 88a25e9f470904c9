import { describe, expect, it } from "vitest";
import { aRun, at } from "@/test/factories";
import { beganAt, delayOf, durationOf, wholeOf } from "./status";

it("only what a schedule asked for is late", () => {
  const causes = [
    "schedule",
    "misfire",
    "manual",
    "api",
    "parent",
    "rerun",
    "backfill",
    "ping",
    "test",
  ] as const;
  const late = causes.filter((cause) => delayOf(aRun({ cause, started_at: at(3600) })) !== undefined);
  expect(late).toEqual(["schedule", "misfire"]);
});

describe("a run with several attempts", () => {
  const attempts = [
    aRun({ attempt: 3, status: "failed", started_at: at(27), finished_at: at(30) }),
    aRun({ attempt: 2, status: "failed", started_at: at(12), finished_at: at(15) }),
    aRun({ attempt: 1, status: "lost", started_at: undefined, finished_at: at(7) }),
  ];

  it("lasts from the first start to the last end", () => {
    const whole = wholeOf(attempts) ?? aRun();
    expect([beganAt(whole), durationOf(whole, 0), delayOf(whole)]).toEqual([at(12), 18_000, 12_000]);
    expect(attempts.map((a) => durationOf(a, 0))).toEqual([3000, 3000, undefined]);
  });

  it("goes on lasting between two attempts", () => {
    const waits = aRun({ attempt: 4, status: "queued", started_at: undefined, finished_at: undefined });
    expect(durationOf(wholeOf([waits, ...attempts]) ?? waits, Date.parse(at(40)))).toBe(28_000);
  });

  it("is as it is with one attempt only", () => {
    expect(wholeOf([aRun()])).toEqual(aRun());
    expect(wholeOf([])).toBeUndefined();
  });
});
