import type { Run } from "@/api/schema.gen";
import { durationOf, isAbsent, isFailure } from "./status";

/** The value that p of the values (0 to 1) are not above; undefined of none. */
export function quantile(values: number[], p: number): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(p * sorted.length) - 1)] ?? sorted[0];
}

export interface Health {
  /** Runs that ended well or badly; what was cancelled or did not run is neither. */
  ended: number;
  /** From 0 to 1; undefined before a run has ended. */
  success: number | undefined;
  p50: number | undefined;
  p95: number | undefined;
  /** How many of the newest runs failed one after the other. */
  streak: number;
}

const isJudged = (r: Run) => r.status === "succeeded" || isFailure(r.status);

/** Whether runs that all ended badly may have more such runs before them: the list is cut after so many. */
export const isCut = (runs: Run[], streak: number, most: number): boolean =>
  runs.length >= most && streak === runs.filter(isJudged).length;

/** Says how a job does by its last runs, the newest first. */
export function healthOf(runs: Run[]): Health {
  const judged = runs.filter(isJudged);
  const good = judged.filter((r) => r.status === "succeeded");
  const durations = judged.flatMap((r) => durationOf(r, 0) ?? []);
  const firstGood = judged.findIndex((r) => r.status === "succeeded");
  return {
    ended: judged.length,
    success: judged.length === 0 ? undefined : good.length / judged.length,
    p50: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    streak: firstGood < 0 ? judged.length : firstGood,
  };
}

export interface StripBar {
  run: Run;
  /** Of the strip's height, from .22 to 1. */
  height: number;
}

/** Lays out a run strip: at most n bars, the newest last; failures stand at least half as high as the strip. */
export function stripOf(runs: Run[], n: number, now: number): StripBar[] {
  const shown = runs.slice(0, n).reverse();
  const durations = shown.map((r) => durationOf(r, now));
  const top = quantile(
    durations.filter((d) => d !== undefined),
    0.95,
  );
  return shown.map((run, i) => {
    const d = durations[i];
    const relative = d === undefined || !top ? 0 : d / top;
    const floor = isFailure(run.status) ? 0.5 : isAbsent(run.status) ? 0.3 : 0.22;
    return { run, height: Math.max(floor, Math.min(1, relative)) };
  });
}
