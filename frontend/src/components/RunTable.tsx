import { Link, useNavigate } from "@tanstack/react-router";
import { memo, useDeferredValue } from "react";
import type { Run } from "@/api/schema.gen";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { delayOf, durationOf, isLiving, tones } from "@/lib/status";
import { CauseMark } from "./CauseIcon";
import { Status } from "./Status";
import { Clock } from "./Time";

interface RunTableProps {
  runs: Run[];
  /** Without it the job has no column: all runs are of one. */
  withJob?: boolean;
  withExecutor?: boolean;
  /** The length of the duration bars: this is half of them. */
  usual?: number;
  marked?: number;
}

/** So many rows are drawn at once; the others when there is time. More than these are not seen at first. */
const first = 30;

/** Runs as rows. Each row opens its run; several fires with one fate are one row. */
export function RunTable({ runs, withJob, withExecutor, usual, marked = -1 }: RunTableProps) {
  const { t } = useWords();
  const now = useNow();
  const longest = Math.max(1, ...runs.map((r) => durationOf(r, now) ?? 0));
  const scale = usual ? Math.max(usual * 1.25, Math.min(longest, usual * 3)) : longest;
  const drawn = useDeferredValue(runs.length, first);
  const c = t.runs.columns;
  return (
    <table className="tbl c runs">
      <thead>
        <tr>
          <th>{c.status}</th>
          {withJob && <th>{c.job}</th>}
          <th>{c.run}</th>
          <th>{c.trigger}</th>
          <th>{c.fire}</th>
          <th className="r">{c.delay}</th>
          <th>{c.duration}</th>
          {withExecutor && <th>{c.executor}</th>}
          <th>{c.result}</th>
        </tr>
      </thead>
      <tbody>
        {runs.slice(0, Math.max(drawn, first)).map((run, i) => (
          <Row
            key={`${run.run_id}.${run.attempt}`}
            run={run}
            row={i}
            marked={i === marked}
            now={isLiving(run.status) ? now : 0}
            {...{ scale, withJob, withExecutor }}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  run: Run;
  row: number;
  marked: boolean;
  now: number;
  scale: number;
  withJob?: boolean;
  withExecutor?: boolean;
}

const Row = memo(function Row({ run, row, marked, now, scale, withJob, withExecutor }: RowProps) {
  const { t } = useWords();
  const navigate = useNavigate();
  const duration = durationOf(run, now);
  const delay = delayOf(run);
  const [group = "", name = ""] = run.job.split("/");
  const open = (e: React.MouseEvent) => {
    if (e.target instanceof Element && e.target.closest("a,button")) return;
    void navigate({ to: "/runs/$runId", params: { runId: run.run_id } });
  };
  return (
    <tr data-row={row} className={marked ? "click mark" : "click"} onClick={open}>
      <td>
        <Status status={run.status} />
        {run.attempt > 1 && <span className="mut num times">×{run.attempt}</span>}
      </td>
      {withJob && (
        <td>
          <Link to="/jobs/$group/$name" params={{ group, name }} className="name">
            {name}
          </Link>{" "}
          <span className="mut">{group}</span>
        </td>
      )}
      <td>
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className="mono plain">
          {shortId(run.run_id)}
        </Link>
      </td>
      <td>
        <CauseMark cause={run.cause} by={run.by} />
      </td>
      <td>
        <Clock at={run.fire_time} />
        {run.count > 1 && <span className="tag tight">{t.runs.fires(run.count)}</span>}
      </td>
      <td className="r num sec">{delay === undefined ? "—" : formatDuration(delay)}</td>
      <td>
        <span className="row g2">
          <DurationBar run={run} share={duration === undefined ? 0 : duration / scale} />
          <span className="num">{duration === undefined ? "—" : formatDuration(duration)}</span>
        </span>
      </td>
      {withExecutor && <td className="sec">{run.instance ?? "—"}</td>}
      <td className="result">
        <span className="trunc sec" title={resultOf(run)}>
          {resultOf(run)}
        </span>
      </td>
    </tr>
  );
});

/** A run's end in a line: why it failed or did not run, what it says of itself, or its exit code. */
export function resultOf(run: Run): string {
  if (run.message) return run.message;
  // Of a run that succeeded it says why there was another attempt, or how many pieces did.
  if (run.reason && (run.status !== "succeeded" || run.broadcast_total)) return run.reason;
  if (run.text) return run.text;
  if (run.percent) return `${Math.round(run.percent)}%`;
  return run.exit_code ? `exit ${run.exit_code}` : "";
}

export function DurationBar({ run, share }: { run: Run; share: number }) {
  const tone = tones[run.status];
  return (
    <span className="bar dur" aria-hidden>
      <i
        className={`b-${tone}`}
        style={{ width: `${Math.max(share > 0 ? 4 : 0, Math.min(100, share * 100))}%` }}
      />
    </span>
  );
}
