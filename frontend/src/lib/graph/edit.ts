import type { Job, Step, StepWait, Task } from "@/api/schema.gen";
import { type Edge, edgesOf } from "./steps";

type After = Step["after"];

/** The sources of a step as a document writes them: success is the name alone, and none are left out. */
export function toAfter(edges: readonly Edge[]): After {
  if (edges.length === 0) return undefined;
  return edges.map((e) => (e.on === "success" ? e.step : e));
}

/** Changes a step; those that come after it follow its new name. */
export function changeStep(steps: readonly Step[], at: number, next: Step): Step[] {
  const was = steps[at]?.step;
  const renamed = was !== undefined && was !== next.step && steps.filter((s) => s.step === was).length === 1;
  return steps.map((s, i) => {
    const one = i === at ? next : s;
    return renamed && one.after !== undefined ? { ...one, after: named(one, was, next.step) } : one;
  });
}

const named = (step: Step, was: string, is: string): After =>
  edgesOf(step.after).some((e) => e.step === was)
    ? toAfter(edgesOf(step.after).map((e) => (e.step === was ? { ...e, step: is } : e)))
    : step.after;

/** Leaves out a step, also where others come after it. */
export function removeStep(steps: readonly Step[], at: number): Step[] {
  const gone = steps[at]?.step;
  return steps
    .filter((_, i) => i !== at)
    .map((s) => {
      const edges = edgesOf(s.after);
      if (!edges.some((e) => e.step === gone)) return s;
      const { after: _, ...rest } = s;
      const left = toAfter(edges.filter((e) => e.step !== gone));
      return left ? { ...rest, after: left } : rest;
    });
}

/** A new step after the last one, with a name that is free. */
export function addStep(steps: readonly Step[]): Step[] {
  const names = new Set(steps.map((s) => s.step));
  let n = steps.length + 1;
  while (names.has(`step_${n}`)) n++;
  const last = steps.findLast((s) => !s.finally)?.step;
  return [...steps, { step: `step_${n}`, ...(last && { after: [last] }), task: { handler: "" } }];
}

/** What any step can say: its place in the workflow, without what it does. */
function placeOf({ step, title, after, join, ...more }: Step): Step {
  const { if: condition, finally: isFinally, may_fail, rerun } = more;
  const kept = { title, after, join, if: condition, finally: isFinally, may_fail, rerun };
  return { step, ...set(kept) };
}

const set = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

/** A step that calls a job in the place of a task. What the called job says itself goes. */
export function withCall(step: Step, call: string): Step {
  const { params, timeout } = step;
  return { ...placeOf(step), ...set({ params, timeout }), call };
}

/** A step that waits in the place of a task. What only a task has goes. */
export function withWait(step: Step, wait: StepWait): Step {
  return { ...placeOf(step), wait };
}

/** A step that does a task. */
export function withTask({ call: _, wait: __, ...step }: Step, task: Task): Step {
  return { ...step, task };
}

export const failurePolicies = ["continue", "stop", "cancel"] as const;
export type FailurePolicy = (typeof failurePolicies)[number];

/** A workflow in which a failed step does this to the others; that they go on need not be said. */
export function withPolicy({ on_failure: _, ...job }: Job, policy: FailurePolicy): Job {
  return policy === "continue" ? job : { ...job, on_failure: policy };
}

/** A job whose task is the first step of a workflow. */
export function asWorkflow({ task = { handler: "" }, ...job }: Job): Job {
  return { ...job, steps: [{ step: "step_1", task }] };
}
