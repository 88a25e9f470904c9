import type { ReportRow } from "@/api/schema.gen";
import type { reports } from "@/i18n/en/reports";
import { formatDuration, parseDuration } from "./duration";

/** By how many milliseconds runs start later than the target allows; 0 if they do not. */
export function lateBy(row: ReportRow): number {
  const limit = parseDuration(row.target?.start_delay ?? "");
  return limit ? Math.max(0, row.started_after.p95_ms - limit) : 0;
}

/** Says whether a job meets its target, and by how much it misses it; undefined if nothing is judged. */
export function verdictInWords(row: ReportRow, t: { reports: typeof reports }): string | undefined {
  const { target } = row;
  if (!target) return undefined;
  if (target.met) return t.reports.targetMet;
  const late = lateBy(row);
  const over = formatDuration(Math.max(1, late)); // less than a millisecond is too late, too
  if (target.error_budget < 0) return t.reports.missedRuns(-target.error_budget, late > 0 ? over : undefined);
  return t.reports.missedDelay(over);
}

/** Of the runs by which success is judged, how many went well and how many did not. */
export function judgedOf(row: ReportRow, scheduled = row.scheduled > 0): { ok: number; bad: number } {
  if (scheduled) return { ok: row.scheduled_succeeded, bad: row.scheduled - row.scheduled_succeeded };
  const { succeeded = 0, failed = 0, timed_out = 0, lost = 0, missed = 0 } = row.statuses;
  return { ok: succeeded, bad: failed + timed_out + lost + missed };
}
