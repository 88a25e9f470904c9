import { expect, it } from "vitest";
import type { StepHistory, StepsOfRun } from "@/api/schema.gen";
import { aStep, fan } from "@/test/graphs";
import { barsOf, gridOf } from "./grid";

function aRun(states: StepsOfRun["states"], change: Partial<StepsOfRun> = {}): StepsOfRun {
  return {
    run_id: "r",
    version: 1,
    status: "succeeded",
    fire_time: "2026-01-05T12:00:00Z",
    states,
    durations_ms: states.map((_, i) => i * 1000),
    ...change,
  };
}
const historyOf = (steps: string[], runs: StepsOfRun[], gone: string[] = []): StepHistory => ({
  job: "billing/flow",
  version: 1,
  counted: runs.length,
  steps: [...steps, ...gone].map((step) => ({
    step,
    runs: 0,
    failures: 0,
    gone: gone.includes(step) || undefined,
  })),
  runs,
});

it("has a row for each step in the order in which they run, and the newest run at the right", () => {
  const steps = [aStep("book", "load"), aStep("load")];
  const newest = aRun(["waiting", "running", ""], { run_id: "new" });
  const oldest = aRun(["failed", "succeeded", "skipped"], { run_id: "old" });
  const { rows, runs } = gridOf(historyOf(["book", "load"], [newest, oldest], ["tidy"]), steps);
  expect(runs.map((r) => r.run_id)).toEqual(["old", "new"]);
  expect(rows.map((r) => [r.name, r.gone, ...r.cells.map((c) => c.state)])).toEqual([
    ["load", false, "succeeded", "running"],
    ["book", false, "failed", "waiting"],
    ["tidy", true, "skipped", undefined],
  ]);
  expect(rows[0]?.cells[0]).toEqual({ step: "load", state: "succeeded", alike: undefined, ms: 1000 });
});

it("has one row for many alike steps, which is as the gravest of them is", () => {
  const steps = fan(20);
  const names = steps.map((s) => s.step);
  const states = names.map((n) => (n === "load_7" || n === "load_9" ? "failed" : "succeeded"));
  const { rows } = gridOf(historyOf(names, [aRun(states)]), steps);
  expect(rows.map((r) => [r.name, r.many])).toEqual([
    ["list", 1],
    ["load_*", 20],
    ["sum", 1],
  ]);
  expect(rows[1]?.cells).toEqual([{ step: "load_7", state: "failed", alike: 2, ms: 20_000 }]);
});

it("draws runs as tall as they took, and one that goes on by now", () => {
  const at = (s: number) => new Date(Date.UTC(2026, 0, 5, 12, 0, s)).toISOString();
  const bars = barsOf(
    [aRun([], { started_at: at(0), finished_at: at(10) }), aRun([]), aRun([], { started_at: at(0) })],
    Date.parse(at(20)),
  );
  expect(bars).toEqual([{ ms: 10_000, share: 0.5 }, undefined, { ms: 20_000, share: 1 }]);
});
