import type { Job, RunDetail, RunStep, Task } from "@/api/schema.gen";
import type { Figures } from "./heat";
import { edgesOf, isAwaiting, isStepFinal, type Step, type StepState } from "./steps";
import { type Awaited, awaitedBy, plannedWait } from "./wait";

/** A step as a graph shows it. */
export interface GraphStep extends Step {
  /** What it does, in a line. */
  detail?: string;
  /** Of a wait: what it waits for. */
  wait?: Awaited;
  state?: StepState;
  started_at?: string;
  duration_ms?: number;
  attempt?: number;
  /** How it did in the latest runs. */
  figures?: Figures;
  /** Something is wrong with its definition. */
  wrong?: boolean;
}

const isRecord = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null;
const kinds = ["handler", "script", "shell", "command", "http"] as const;

/** The steps of a document, also of one that is being written and may be wrong. */
export function stepsOfJob(job: Pick<Job, "steps">, wrong: ReadonlySet<number> = new Set()): GraphStep[] {
  const steps: unknown = job.steps;
  return (Array.isArray(steps) ? steps : []).flatMap((s: unknown, i) => {
    if (!isRecord(s) || typeof s.step !== "string" || s.step === "") return [];
    const task = isRecord(s.task) ? (s.task as Task) : undefined;
    const call = typeof s.call === "string" ? s.call : undefined;
    const wait = plannedWait(s.wait);
    return {
      step: s.step,
      title: typeof s.title === "string" && s.title !== "" ? s.title : undefined,
      kind:
        call !== undefined ? "call" : wait ? "wait" : (kinds.find((k) => task?.[k] !== undefined) ?? "other"),
      detail: call ?? (task && detailOf(task)),
      wait,
      after: edgesOf(s.after),
      join: typeof s.join === "number" || typeof s.join === "string" ? s.join : undefined,
      finally: s.finally === true,
      may_fail: s.may_fail === true,
      wrong: wrong.has(i),
    };
  });
}

/** What a task does, in a line. */
function detailOf(task: Task): string | undefined {
  const text =
    task.handler ?? task.shell ?? task.http?.url ?? task.script?.language ?? task.command?.join?.(" ");
  return typeof text === "string" ? text.split("\n")[0] : undefined;
}

/** The steps of a run. */
export function stepsOfRun(steps: readonly RunStep[]): GraphStep[] {
  return steps.map((s) => ({
    step: s.step,
    title: s.title,
    kind: s.task,
    detail: s.detail ?? s.step,
    wait: awaitedBy(s),
    after: edgesOf(s.after),
    join: s.join,
    finally: s.finally,
    may_fail: s.may_fail,
    state: stateOf(s),
    started_at: beganAt(s),
    duration_ms: tookOf(s),
    attempt: attemptOf(s),
  }));
}

/** A step as it was in an earlier round, of which the run is known, or is still being asked for. */
export function inEarlierRound(step: RunStep, runId: string, of: RunDetail | undefined): RunStep {
  const { step: name, title, task, detail, finally: last, may_fail, attempts } = step;
  const defined = { step: name, title, task, detail, finally: last, may_fail, attempts, run_id: runId };
  const newest = of?.attempts[0];
  if (!newest) return { ...defined, state: "unknown" };
  const { attempt, instance, exit_code, message, reason, started_at, finished_at } = newest;
  const first_started_at = of?.attempts.at(-1)?.started_at;
  return {
    ...defined,
    state: of.status,
    ...{ attempt, instance, exit_code, message, reason, started_at, finished_at, first_started_at },
  };
}

/** The number of a step's newest attempt, if it has come so far. */
export const attemptOf = (s: RunStep): number | undefined =>
  s.attempt ?? (s.run_id === undefined ? undefined : 1);

/** What becomes of a step: of a wait that has begun, what it waits for. */
export const stateOf = (s: RunStep): StepState =>
  s.state === "queued" && s.wait?.since ? `awaits_${s.wait.kind}` : s.state;

/** What a step waits for now; undefined of one that does not. */
export const awaitsOf = (s: RunStep): Awaited | undefined =>
  isAwaiting(stateOf(s)) ? awaitedBy(s) : undefined;

export const beganAt = (s: RunStep): string | undefined =>
  s.first_started_at ?? s.started_at ?? s.wait?.since;

/** How long an ended step took, in ms. */
export function tookOf(s: RunStep): number | undefined {
  const began = beganAt(s);
  if (!began || !s.finished_at || !isStepFinal(s.state)) return undefined;
  return Math.max(0, Date.parse(s.finished_at) - Date.parse(began));
}

/** The job that a step runs in the place of a task. */
export const calledBy = (s: RunStep): string | undefined => (s.task === "call" ? s.detail : undefined);

/** The fields of a document with problems, such as steps[3].after, as the places of the steps. */
export function wrongSteps(fields: Iterable<string>): Set<number> {
  const places = new Set<number>();
  for (const field of fields) {
    const [, place] = /^steps\[(\d+)\]/.exec(field) ?? [];
    if (place !== undefined) places.add(Number(place));
  }
  return places;
}
