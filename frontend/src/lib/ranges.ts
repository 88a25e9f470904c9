import type { StatusCounts } from "@/api/schema.gen";
import { failures, living } from "./status";

const hour = 3600e3;

/** The end of a range that ends now: on a whole part, so that parts do not move with each request. */
export function alignedEnd(now: number, part: number): number {
  return Math.ceil(now / part) * part;
}

/** The last days of UTC, as reports know them; today is one of them. */
export function lastDays(now: number, days: number): { from: string; to: string } {
  const to = alignedEnd(now + 1, 24 * hour);
  const iso = (ms: number) => new Date(ms).toISOString();
  return { from: iso(to - days * 24 * hour), to: iso(to) };
}

export interface Totals {
  ok: number;
  bad: number;
  /** Skipped, missed, cancelled. */
  other: number;
  /** Not ended yet. */
  living: number;
  absent: number;
  missed: number;
}

export function totalsOf(counts: StatusCounts): Totals {
  const sum = (statuses: string[]) => statuses.reduce((n, s) => n + (counts[s] ?? 0), 0);
  return {
    ok: counts.succeeded ?? 0,
    bad: sum(failures),
    other: sum(["skipped", "missed", "cancelled"]),
    living: sum(living),
    absent: sum(["skipped", "missed"]),
    missed: counts.missed ?? 0,
  };
}

export function addTotals(all: Totals[]): Totals {
  const zero: Totals = { ok: 0, bad: 0, other: 0, living: 0, absent: 0, missed: 0 };
  return all.reduce(
    (a, b) => ({
      ok: a.ok + b.ok,
      bad: a.bad + b.bad,
      other: a.other + b.other,
      living: a.living + b.living,
      absent: a.absent + b.absent,
      missed: a.missed + b.missed,
    }),
    zero,
  );
}

/** A part of a range in a chart of fires by their outcome. */
export interface Bar {
  from: number;
  to: number;
  ok: number;
  bad: number;
  other: number;
  planned: number;
  /** What is planned would be skipped. */
  off?: boolean;
}

/** The bars of what became of fires, from an instant on. What has not ended is among the others. */
export function barsOf(totals: Totals[], from: number, part: number): Bar[] {
  return totals.map((x, i) => ({
    from: from + i * part,
    to: from + (i + 1) * part,
    ok: x.ok,
    bad: x.bad,
    other: x.other + x.living,
    planned: 0,
  }));
}

/** Whether one can narrow to some of the parts of a time: those of less than a second have none. */
export function isNarrowable(parts: { from: number; to: number }[]): boolean {
  const [first] = parts;
  return first !== undefined && parts.length > 1 && first.to - first.from >= 1000;
}
