import { expect, it } from "vitest";
import type { RunStep } from "@/api/schema.gen";
import { at } from "@/test/factories";
import { criticalPath } from "./critical";
import { calledBy, stepsOfJob, stepsOfRun, wrongSteps } from "./document";

it("reads the steps of a document, whatever is wrong with it", () => {
  const steps = [
    { step: "load", title: "Load", task: { shell: "a\nb" }, after: [{ step: "x", on: "end" }] },
    { step: "" },
    "odd",
    { step: "close", call: "billing/close" },
    { step: "half", task: null },
  ];
  const [load, close, half, ...rest] = stepsOfJob({ steps } as never, wrongSteps(["steps[4].task", "job"]));
  expect(rest).toEqual([]);
  expect(load).toMatchObject({ step: "load", kind: "shell", detail: "a", after: [{ step: "x", on: "end" }] });
  expect(close).toMatchObject({ kind: "call", detail: "billing/close" });
  expect([load?.wrong, half?.wrong]).toEqual([false, true]);
  expect(stepsOfJob({ steps: {} } as never)).toEqual([]);
});

function ran(step: string, after: string[], from: number, to: number): RunStep {
  return {
    step,
    task: "handler",
    state: "succeeded",
    run_id: step,
    after: after.map((s) => ({ step: s, on: "success" })),
    started_at: at(from),
    finished_at: at(to),
  };
}

it("finds the steps that decided how long a run took", () => {
  const steps = [
    ran("a", [], 0, 2),
    ran("b", ["a"], 2, 9),
    ran("c", ["a"], 2, 4),
    ran("d", ["b", "c"], 9, 10),
    { ...ran("unlock", [], 10, 12), finally: true },
  ];
  expect([...criticalPath(steps)]).toEqual(["d", "b", "a"]);
  expect([...criticalPath([])]).toEqual([]);
});

it("shows the job that a step calls, and no task", () => {
  const step = { ...ran("a", [], 0, 1), detail: "billing/close" };
  expect(calledBy({ ...step, task: "call" })).toBe("billing/close");
  expect(calledBy(step)).toBeUndefined();
});

it("says how long an ended step took, over all its attempts", () => {
  const [step] = stepsOfRun([{ ...ran("a", [], 5, 9), first_started_at: at(0) }]);
  expect(step?.duration_ms).toBe(9000);
  const [running] = stepsOfRun([{ ...ran("a", [], 5, 9), state: "running" }]);
  expect(running?.duration_ms).toBeUndefined();
});
