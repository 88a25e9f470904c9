import type { ReactNode } from "react";
import { refOf } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import { RunStrip } from "@/components/RunStrip";
import { Ago } from "@/components/Time";
import type { JobColumn } from "@/lib/columns";
import { formatDuration } from "@/lib/duration";
import type { Words } from "@/lib/format";
import { healthOf } from "@/lib/stats";
import { expressionOf, kindOf, scheduleInWords } from "@/lib/words";
import { LastRun, NextFire } from "./Moments";

/** The columns that are shown until somebody wants others. */
export const usualColumns: readonly JobColumn[] = ["schedule", "runs", "last", "next", "success", "p95"];

/** Those with figures, which stand to the right. */
export const figures: ReadonlySet<JobColumn> = new Set(["success", "p95", "retries", "version"]);

/** The columns by which jobs can be sorted. */
export const sortColumns = ["job", "last", "next", "success", "p95", "version", "changed"] as const;
export type SortColumn = (typeof sortColumns)[number];

export const isSortColumn = (column: JobColumn): column is JobColumn & SortColumn =>
  sortColumns.some((c) => c === column);

/** By what of a job. */
export const sortValues: Record<SortColumn, (item: JobItem) => number | string | undefined> = {
  job: (item) => item.definition.job,
  last: (item) => instant(item.last_runs?.[0]?.fire_time),
  next: (item) => instant(item.next_fires[0]?.due),
  success: (item) => healthOf(item.last_runs ?? []).success,
  p95: (item) => healthOf(item.last_runs ?? []).p95,
  version: (item) => item.definition.version,
  changed: (item) => instant(item.definition.effective_from),
};

/** Of these the greatest come first at the first click: the latest, the slowest. */
export const downFirst: ReadonlySet<SortColumn> = new Set(["last", "p95", "version", "changed"]);

function instant(at: string | undefined): number | undefined {
  return at === undefined ? undefined : Date.parse(at);
}

/** What a job has in a column. */
export function cellOf(column: JobColumn, item: JobItem, { t, f }: Words): ReactNode {
  const d = item.definition;
  switch (column) {
    case "schedule":
      return (
        <span className="jn">
          <span className="main-line trunc">{scheduleInWords(d.schedule, t, f.lang)}</span>
          <span className="mono trunc">
            {expressionOf(d.schedule) ?? (kindOf(d.schedule) === "manual" ? "—" : d.schedule?.zone)}
          </span>
        </span>
      );
    case "runs": {
      const runs = item.last_runs;
      if (runs === null) return <span className="mut">{t.jobs.historyAway}</span>;
      if (runs.length === 0) return <span className="mut">{t.jobs.noRuns}</span>;
      return <RunStrip runs={runs} />;
    }
    case "last":
      return <LastRun item={item} />;
    case "next":
      return <NextFire item={item} />;
    case "success": {
      const { success } = healthOf(item.last_runs ?? []);
      if (success === undefined) return "—";
      return <span className={success < 0.9 ? "c-bad" : undefined}>{f.percent(success)}</span>;
    }
    case "p95": {
      const { p95 } = healthOf(item.last_runs ?? []);
      return p95 === undefined ? "—" : formatDuration(p95);
    }
    case "group":
      return <span className="sec">{refOf(d.job).group}</span>;
    case "zone":
      return <span className="sec">{d.schedule?.zone ?? "—"}</span>;
    case "timeout":
      return <span className="sec num">{d.timeout ?? "—"}</span>;
    case "retries":
      return f.number(d.retry?.limit ?? 0);
    case "version":
      return `v${d.version}`;
    case "changed":
      return (
        <span className="jn">
          <Ago at={d.effective_from} />
          <span className="trunc">{d.author}</span>
        </span>
      );
  }
}
