import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type SortColumn, sortColumns } from "@/api/joblist";
import type { JobItem, Run } from "@/api/schema.gen";
import { Owner } from "@/components/Owner";
import { RunStrip } from "@/components/RunStrip";
import { Ago } from "@/components/Time";
import { serverNow } from "@/lib/clock";
import type { JobColumn } from "@/lib/columns";
import { formatDuration } from "@/lib/duration";
import type { PageWords } from "@/lib/format";
import { isSameClock } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { delayOf, isFailure } from "@/lib/status";
import { expressionOf, kindOf, scheduleInWords, zoneOf } from "@/lib/words";
import { LastRun, NextFire } from "./Moments";

/** The columns that are shown until somebody wants others. */
export const usualColumns: readonly JobColumn[] = [
  "schedule",
  "runs",
  "last",
  "next",
  "success",
  "p95",
  "owner",
];

/** Those with figures, which stand to the right. */
export const figures: ReadonlySet<JobColumn> = new Set(["success", "p95", "delay", "retries", "version"]);

export const isSortColumn = (column: JobColumn): column is JobColumn & SortColumn =>
  sortColumns.some((c) => c === column);

/** Of these the greatest come first at the first click: the latest, the slowest. */
export const downFirst: ReadonlySet<SortColumn> = new Set(["last", "p95", "version", "changed"]);

/** How long after their fire times the runs of a strip began, on average; undefined of none. */
function meanDelayOf(runs: Run[]): number | undefined {
  const delays = runs.flatMap((r) => delayOf(r) ?? []);
  return delays.length === 0 ? undefined : delays.reduce((a, b) => a + b, 0) / delays.length;
}

/** What a job has in a column. */
export function cellOf(column: JobColumn, item: JobItem, { t, f }: PageWords): ReactNode {
  const d = item.definition;
  const zone = zoneOf(d.schedule);
  switch (column) {
    case "schedule":
      return (
        <span className="jn">
          <span className="main-line trunc">
            {scheduleInWords(d.schedule, t, item.next_fires[0]?.fire_time)}
          </span>
          <span className="mono trunc">
            {expressionOf(d.schedule) ?? (kindOf(d.schedule) === "manual" ? "—" : d.schedule?.zone)}
            {kindOf(d.schedule) === "cron" && !isSameClock(zone, f.zone, serverNow()) && ` · ${zone}`}
          </span>
        </span>
      );
    case "runs": {
      const runs = item.last_runs;
      if (runs === null) return <span className="mut">{t.jobs.historyAway}</span>;
      if (runs.length === 0) return <span className="mut">{t.joblist.noRuns}</span>;
      return <RunStrip runs={runs} />;
    }
    case "last":
      return <LastRun item={item} />;
    case "next":
      return <NextFire item={item} />;
    case "success": {
      const success = item.week?.success_rate;
      if (success === undefined) return "—";
      return <span className={success < 0.9 ? "c-bad" : undefined}>{f.percent(success)}</span>;
    }
    case "p95":
      return item.week?.p95_ms ? formatDuration(item.week.p95_ms) : "—";
    case "owner":
      return d.owner ? <Owner name={d.owner} /> : <span className="mut">—</span>;
    case "tags":
      return d.tags?.length ? (
        <span className="row g1 tags">
          {d.tags.map((tag) => (
            <Link key={tag} to="/jobs" search={{ tag: [tag] }} className="tag">
              {tag}
            </Link>
          ))}
        </span>
      ) : (
        <span className="mut">—</span>
      );
    case "handler":
      return <span className="mono sec trunc">{d.task?.handler ?? "—"}</span>;
    case "trouble": {
      const bad = item.last_runs?.find((r) => isFailure(r.status));
      return bad ? <Ago at={bad.fire_time} /> : <span className="mut">—</span>;
    }
    case "delay": {
      const delay = meanDelayOf(item.last_runs ?? []);
      return delay === undefined ? "—" : formatDuration(Math.max(0, delay));
    }
    case "group":
      return <div className="sec clip">{refOf(d.job).group}</div>;
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
