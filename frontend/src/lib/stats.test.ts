import { describe, expect, it } from "vitest";
import { aRun, at } from "@/test/factories";
import { healthOf, isCut, quantile, stripOf } from "./stats";

describe("a run strip", () => {
  const lasting = (seconds: number, change = {}) => aRun({ finished_at: at(seconds), ...change });

  it("has the newest run at the right, and at most n bars", () => {
    const runs = [
      lasting(1, { run_id: "newest" }),
      lasting(1, { run_id: "older" }),
      lasting(1, { run_id: "oldest" }),
    ];
    expect(stripOf(runs, 2, 0).map((b) => b.run.run_id)).toEqual(["older", "newest"]);
  });

  it("is as high as runs are long, but shows short ones and failures", () => {
    const heights = stripOf(
      [lasting(0.001, { status: "failed" }), lasting(0.001), lasting(5), lasting(10)],
      30,
      0,
    ).map((b) => b.height);
    expect(heights).toEqual([1, 0.5, 0.22, 0.5]);
  });

  it("shows what did not run lower than a failure", () => {
    const [bar] = stripOf(
      [aRun({ status: "skipped", started_at: undefined, finished_at: undefined })],
      30,
      0,
    );
    expect(bar?.height).toBe(0.3);
  });

  it("lets one long run not hide the others", () => {
    const many = Array.from({ length: 29 }, () => lasting(10));
    expect(stripOf([lasting(1000), ...many], 30, 0)[0]?.height).toBe(1);
  });
});

describe("a job's health", () => {
  it("counts what ended well or badly, and nothing else", () => {
    const h = healthOf([
      aRun({ status: "running", finished_at: undefined }),
      aRun({ status: "failed" }),
      aRun({ status: "timed_out" }),
      aRun({ status: "skipped" }),
      aRun(),
      aRun({ status: "cancelled" }),
      aRun({ status: "lost" }),
    ]);
    expect(h.ended).toBe(4);
    expect(h.success).toBe(0.25);
    expect(h.streak).toBe(2);
  });

  it("is not known before a run has ended", () => {
    expect(healthOf([aRun({ status: "pending" })])).toEqual({
      ended: 0,
      success: undefined,
      p50: undefined,
      p95: undefined,
      streak: 0,
    });
  });
});

it("a quantile is one of the values", () => {
  expect(quantile([], 0.5)).toBeUndefined();
  expect(quantile([3], 0.95)).toBe(3);
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4, 100], 0.95)).toBe(100);
});

it("failures in a row may be more than a list that is cut shows, whatever else it has", () => {
  const of = (...statuses: ("failed" | "skipped" | "succeeded")[]) =>
    statuses.map((status) => aRun({ status }));
  const cut = (runs: ReturnType<typeof of>) => isCut(runs, healthOf(runs).streak, 3);
  expect(cut(of("failed", "failed", "failed"))).toBe(true);
  expect(cut(of("failed", "skipped", "failed"))).toBe(true);
  expect(cut(of("failed", "failed", "succeeded"))).toBe(false);
  expect(cut(of("failed", "failed"))).toBe(false);
});
