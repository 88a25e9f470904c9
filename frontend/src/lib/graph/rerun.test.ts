import { expect, it } from "vitest";
import type { RunStep } from "@/api/schema.gen";
import { isRecoverable, startOf, tallyOf, wishFor } from "./rerun";

const step = (name: string, state: RunStep["state"]): RunStep => ({ step: name, task: "shell", state });

it("a step is retried or resolved while its run is alive, once it has ended badly or was cancelled", () => {
  for (const state of ["failed", "timed_out", "lost", "cancelled"] as const)
    expect([state, isRecoverable("running", step("a", state))]).toEqual([state, true]);
  for (const state of ["succeeded", "skipped", "running", "waiting", "unknown"] as const)
    expect([state, isRecoverable("running", step("a", state))]).toEqual([state, false]);
  expect(isRecoverable("failed", step("a", "failed"))).toBe(false);
});

it("a rerun begins with the first step that ended badly", () => {
  expect(startOf([step("a", "succeeded"), step("b", "cancelled"), step("c", "failed")])).toBe("c");
  expect(startOf([step("a", "succeeded")])).toBe("a");
  expect(startOf([])).toBe("");
  expect(wishFor("from", "c")).toEqual({ from: ["c"] });
  expect(wishFor("failed", "c")).toEqual({ steps: "failed" });
});

it("counts what a rerun does with the steps", () => {
  const plan = (["decide", "take", "take"] as const).map((action) => ({
    step: action,
    action,
    reason: { text: "" },
  }));
  expect(tallyOf(plan)).toEqual([
    { action: "take", n: 2 },
    { action: "decide", n: 1 },
  ]);
});
