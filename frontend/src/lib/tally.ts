import type { LedgerDay, Tally } from "@/api/schema.gen";

/** The ledger is checked for a range of so many milliseconds at most. */
export const longestLedger = 92 * 24 * 3600e3;

const figures = [
  "fires",
  "ran",
  "caught_up",
  "reported",
  "pending",
  "skipped",
  "missed",
  "undecided",
  "unjudged",
  "discrepancies",
  "failed",
] as const;

export function addTallies(a: Tally, b: Tally): Tally {
  const sum: Tally = { fires: 0 };
  for (const f of figures) {
    const n = (a[f] ?? 0) + (b[f] ?? 0);
    if (n > 0 || f === "fires") sum[f] = n;
  }
  return sum;
}

/** Whether the fires of a part of the ledger are accounted for, and how many are. */
export function proofOf({ total }: { total: Tally }) {
  const { fires: due, pending = 0, undecided = 0, unjudged = 0, discrepancies: wrong = 0 } = total;
  const open = pending + undecided;
  return {
    due,
    open,
    wrong,
    unjudged,
    accounted: due - open - wrong - unjudged,
    holds: wrong + unjudged === 0,
  };
}

export interface JobTally {
  job: string;
  total: Tally;
  /** By the beginning of each day. */
  days: Map<string, Tally>;
}

/** Rows of a job and a day each, which may come in parts, as one row a job: those with something wrong first. */
export function byJob(days: LedgerDay[]): JobTally[] {
  const jobs = new Map<string, JobTally>();
  for (const d of days) {
    const known = jobs.get(d.job) ?? { job: d.job, total: { fires: 0 }, days: new Map<string, Tally>() };
    known.total = addTallies(known.total, d.counts);
    known.days.set(d.day, addTallies(known.days.get(d.day) ?? { fires: 0 }, d.counts));
    jobs.set(d.job, known);
  }
  const rank = (t: Tally) => (t.discrepancies ? 0 : t.missed ? 1 : t.failed ? 2 : 3);
  return [...jobs.values()].sort((a, b) => rank(a.total) - rank(b.total) || a.job.localeCompare(b.job));
}
