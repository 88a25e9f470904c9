import { expect, it } from "vitest";
import type { Step } from "@/api/schema.gen";
import { addStep, changeStep, removeStep, withCall, withPolicy, withTask, withWait } from "./edit";

const steps: Step[] = [
  { step: "a", task: { handler: "a" }, params: { x: 1 } },
  { step: "b", task: { handler: "b" }, after: ["a"] },
  { step: "c", task: { handler: "c" }, after: ["b", { step: "a", on: "failure" }] },
];

it("a renamed step keeps those that come after it, and nothing else changes", () => {
  const [a, b, c] = changeStep(steps, 0, { ...(steps[0] as Step), step: "first" });
  expect(a).toEqual({ step: "first", task: { handler: "a" }, params: { x: 1 } });
  expect(b?.after).toEqual(["first"]);
  expect(c?.after).toEqual(["b", { step: "first", on: "failure" }]);
  expect(changeStep(steps, 1, { ...(steps[1] as Step), title: "B" })[2]).toBe(steps[2]);
});

it("a removed step is left out where others came after it", () => {
  const [b, c] = removeStep(steps, 0);
  expect(b).toEqual({ step: "b", task: { handler: "b" } });
  expect(c?.after).toEqual(["b"]);
});

it("a new step has a free name, and comes after the last that is no cleanup", () => {
  const more: Step[] = [...steps, { step: "step_5", task: {}, finally: true }];
  expect(addStep(more).at(-1)).toEqual({ step: "step_6", after: ["c"], task: { handler: "" } });
  expect(addStep([])[0]).toEqual({ step: "step_1", task: { handler: "" } });
});

it("a step that calls a job keeps what goes with a call, and a task takes its place again", () => {
  const step: Step = {
    step: "close",
    after: ["a"],
    task: { shell: "true" },
    if: "params.x",
    timeout: "1h",
    retry: { limit: 2 },
    route: "first",
  };
  const call = withCall(step, "");
  expect(call).toEqual({ step: "close", after: ["a"], if: "params.x", timeout: "1h", call: "" });
  expect(withTask(call, { handler: "h" })).toEqual({
    step: "close",
    after: ["a"],
    if: "params.x",
    timeout: "1h",
    task: { handler: "h" },
  });
});

it("what a failed step does to the others is said only if they do not go on", () => {
  const job = { job: "a/b", steps };
  const stops = withPolicy(job, "stop");
  expect(stops).toEqual({ ...job, on_failure: "stop" });
  expect(withPolicy(stops, "continue")).toEqual(job);
});

it("a step that waits keeps its place alone, and a task or a call takes its place again", () => {
  const step: Step = {
    step: "ok",
    after: ["a"],
    if: "params.x",
    may_fail: true,
    task: { shell: "true" },
    params: { x: 1 },
    timeout: "1h",
  };
  const wait = withWait(step, { signal: "paid" });
  expect(wait).toEqual({
    step: "ok",
    after: ["a"],
    if: "params.x",
    may_fail: true,
    wait: { signal: "paid" },
  });
  expect(withTask(wait, { handler: "h" })).toEqual({ ...wait, wait: undefined, task: { handler: "h" } });
  expect(withCall(wait, "a/b")).not.toHaveProperty("wait");
});
