/** A run that an instance still has to finish. */
export interface LeftRun {
  job: string;
  /** How long it has run, in ms. */
  elapsed: number;
}

/** When a run's likely end cannot be told: its job has not ended often enough, or it has run longer than nearly all before. */
export const unknownEnd = Number.POSITIVE_INFINITY;

/** How long until a run has ended in all likelihood, in ms, by how long 19 of 20 runs of its job took. */
export function leftOf(run: LeftRun, p95: ReadonlyMap<string, number>): number {
  const left = (p95.get(run.job) ?? 0) - run.elapsed;
  return left > 0 ? left : unknownEnd;
}

/** How long until all have ended in all likelihood, and of how many that cannot be told. */
export function drainTime(runs: LeftRun[], p95: ReadonlyMap<string, number>) {
  const left = runs.map((r) => leftOf(r, p95));
  const known = left.filter((ms) => ms !== unknownEnd);
  return { longest: Math.max(0, ...known), unknown: left.length - known.length };
}
