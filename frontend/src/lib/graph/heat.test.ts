import { expect, it } from "vitest";
import { figuresOf, heatOf, together } from "./heat";

it("says how often a step fails by its share of failures", () => {
  expect([heatOf(0, 0), heatOf(9, 0), heatOf(20, 1), heatOf(10, 1), heatOf(5, 1), heatOf(4, 1)]).toEqual([
    "idle",
    "never",
    "rarely",
    "sometimes",
    "sometimes",
    "often",
  ]);
});

it("adds up what the steps of a box did, with the longest times and the newest failure", () => {
  const older = { run_id: "a", status: "failed", at: "2026-01-05T12:00:00Z" } as const;
  const newer = { run_id: "b", status: "lost", at: "2026-01-06T12:00:00Z" } as const;
  const box = together(
    [
      { step: "a", runs: 10, failures: 1, p50_ms: 5, p95_ms: 9, last_failure: older },
      { step: "b", runs: 10, failures: 3, p50_ms: 4, p95_ms: 20, last_failure: newer },
      { step: "c", runs: 0, failures: 0 },
    ].map(figuresOf),
  );
  expect(box).toEqual({ heat: "sometimes", runs: 20, failures: 4, p50_ms: 5, p95_ms: 20, last: newer });
  expect(together([])).toEqual({ heat: "idle", runs: 0, failures: 0 });
});
