import type { RunWait, Status } from "@/api/schema.gen";
import { isFailure, isLiving, type Tone, tones } from "@/lib/status";

/** The ends of a source that count for an edge. */
export const conditions = ["success", "failure", "end", "always"] as const;
export type On = (typeof conditions)[number];

export interface Edge {
  step: string;
  on: On;
}

/** A wait that has begun, by what it is for. */
export type Awaiting = `awaits_${RunWait["kind"]}`;

/**
 * What becomes of a step: it waits for its sources, it could run but has no room, it is a wait that
 * has begun, nothing is known, or it has the status of its run.
 */
export type StepState = "waiting" | "ready" | "unknown" | Awaiting | Status;

/** What another version of a job has made of a step. */
export type StepChange = "added" | "removed" | "changed";

/** Where a step stands in a graph. */
export interface Step {
  step: string;
  title?: string;
  /** The kind of its task, or call or wait. */
  kind: string;
  after: Edge[];
  join?: string | number;
  finally?: boolean;
  may_fail?: boolean;
  /** In the graph of two versions. */
  change?: StepChange;
}

export const stepTones: Record<StepState, Tone> = {
  ...tones,
  waiting: "idle",
  ready: "idle",
  unknown: "idle",
  awaits_time: "run",
  awaits_signal: "run",
  awaits_approval: "run",
  awaits_runs: "run",
};

export const isAwaiting = (s: StepState): s is Awaiting => s.startsWith("awaits_");

const isStatus = (s: StepState): s is Status => s in tones;

export const isStepFinal = (s: StepState): boolean => isStatus(s) && !isLiving(s);
/** Ended badly, as the machine says it: what an edge on failure is met by. */
export const isBad = (s: StepState): boolean => isStatus(s) && (isFailure(s) || s === "missed");

/** Of several steps together, the state that they have: the first of these that one of them is in. */
export const gravest: readonly StepState[] = [
  "failed",
  "timed_out",
  "lost",
  "missed",
  "awaits_approval",
  "running",
  "awaits_signal",
  "awaits_runs",
  "awaits_time",
  "queued",
  "pending",
  "ready",
  "waiting",
  "unknown",
  "cancelled",
  "succeeded",
  "skipped",
];

export const gravestOf = (states: readonly (StepState | undefined)[]): StepState | undefined =>
  gravest.find((state) => states.includes(state));

/** Whether a source in this state meets an edge; undefined as long as it is not decided. */
export function isMet(on: On, source: StepState | undefined): boolean | undefined {
  if (source === undefined || !isStepFinal(source)) return undefined;
  if (on === "always") return true;
  if (on === "failure") return isBad(source);
  return source === "succeeded" || (on === "end" && isBad(source));
}

/** Reads the sources of a step as a document has them: a name, an object, or a list of both. */
export function edgesOf(after: unknown): Edge[] {
  if (Array.isArray(after)) return after.flatMap(edgesOf);
  if (typeof after === "string") return after === "" ? [] : [{ step: after, on: "success" }];
  if (typeof after !== "object" || after === null) return [];
  const { step, on } = after as { step?: unknown; on?: unknown };
  if (typeof step !== "string") return [];
  return [{ step, on: conditions.find((c) => c === on) ?? "success" }];
}

/**
 * The steps so that each comes after its sources, otherwise in the order of the document. Of a name
 * that is there twice the first counts; a source that is no step is left out. Steps in a circle come last.
 */
export function inOrder<S extends Step>(steps: readonly S[]): S[] {
  const byName = new Map<string, S>();
  for (const s of steps) if (!byName.has(s.step)) byName.set(s.step, s);
  const all = [...byName.values()];
  const open = new Map(all.map((s) => [s.step, sourcesIn(byName, s).length]));
  const targets = targetsOf(all);
  const ordered: S[] = [];
  const done = new Set<string>();
  const take = (s: S) => {
    ordered.push(s);
    done.add(s.step);
    for (const target of targets.get(s.step) ?? []) open.set(target, (open.get(target) ?? 0) - 1);
  };
  // Each round takes what is free, so that what runs together stands together.
  for (;;) {
    const free = all.filter((s) => !done.has(s.step) && open.get(s.step) === 0);
    const round = free.some((s) => !s.finally) ? free.filter((s) => !s.finally) : free;
    if (round.length === 0) break;
    round.forEach(take);
  }
  return [...ordered, ...all.filter((s) => !done.has(s.step))];
}

/** The names of a step's sources that are steps, each once. */
export function sourcesIn(byName: ReadonlyMap<string, unknown>, step: Step): string[] {
  return [...new Set(step.after.map((e) => e.step))].filter((n) => n !== step.step && byName.has(n));
}

/** The steps that come right after each. */
export function targetsOf(steps: readonly Step[]): Map<string, string[]> {
  const names = new Map(steps.map((s) => [s.step, s]));
  const targets = new Map<string, string[]>();
  for (const s of steps) {
    for (const source of sourcesIn(names, s)) {
      const of = targets.get(source);
      if (of) of.push(s.step);
      else targets.set(source, [s.step]);
    }
  }
  return targets;
}
