import { Link, useNavigate } from "@tanstack/react-router";
import { Ear } from "lucide-react";
import { memo, type ReactNode, useDeferredValue } from "react";
import type { Run } from "@/api/schema.gen";
import { isRunSort, type RunColumn, type RunSort, type Sort } from "@/lib/columns";
import { formatDuration } from "@/lib/duration";
import { hostOf } from "@/lib/elsewhere";
import { type PageWords, usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { resultOf, say } from "@/lib/reason";
import { beganAt, delayOf, durationOf, isLiving, tones } from "@/lib/status";
import { CauseMark } from "./CauseIcon";
import { JobName } from "./JobName";
import { SortHead } from "./SortHead";
import { Status } from "./Status";
import { Clock } from "./Time";

interface RunTableProps {
  runs: Run[];
  /** What is shown of each, beside how it ended. */
  columns: readonly RunColumn[];
  /** The length of the duration bars: this is half of them. */
  usual?: number;
  marked?: number;
  /** Where the rows can be sorted: how they are, and how they shall be. */
  sort?: Sort<RunSort>;
  onSort?(sort: Sort<RunSort> | undefined): void;
  /** Where runs can be chosen: those that are, by their ids. */
  chosen?: ReadonlySet<string>;
  /** A row was ticked or not; range says to take all rows since the last. */
  onChoose?(row: number, range: boolean): void;
  onChooseAll?(): void;
  /** What can be done with a run, at the end of its row. */
  actions?(run: Run): ReactNode;
}

const figures: ReadonlySet<RunColumn> = new Set(["delay", "attempt", "version", "pieces"]);
const classes: Partial<Record<RunColumn, string>> = {
  delay: "r num sec",
  attempt: "r num sec",
  version: "r num sec",
  pieces: "r num sec",
  executor: "sec",
  result: "result",
};

/** So many rows are drawn at once; the others when there is time. More than these are not seen at first. */
const first = 30;

/** Runs as rows. Each row opens its run; several fires with one outcome are one row. */
export function RunTable({
  runs,
  columns,
  usual,
  marked = -1,
  sort,
  onSort,
  chosen,
  onChoose,
  onChooseAll,
  actions,
}: RunTableProps) {
  const { t } = usePageWords();
  const now = useNow();
  const longest = Math.max(1, ...runs.map((r) => durationOf(r, now) ?? 0));
  const scale = usual ? Math.max(usual * 1.25, Math.min(longest, usual * 3)) : longest;
  const drawn = useDeferredValue(runs.length, first);
  const c = t.runs.columns;
  return (
    <table className="tbl c runs">
      <thead>
        <tr>
          {onChooseAll && (
            <th className="ckc">
              <input
                type="checkbox"
                className="ck"
                aria-label={t.act.selectAll}
                checked={runs.length > 0 && runs.every((r) => chosen?.has(r.run_id))}
                onChange={onChooseAll}
              />
            </th>
          )}
          <th>{c.status}</th>
          {columns.map((column) =>
            onSort && isRunSort(column) ? (
              <SortHead key={column} by={column} sort={sort} down right={figures.has(column)} onSort={onSort}>
                {c[column]}
              </SortHead>
            ) : (
              <th key={column} className={figures.has(column) ? "r" : undefined}>
                {c[column]}
              </th>
            ),
          )}
          {actions && (
            <th>
              <span className="sr">{t.joblist.columns.actions}</span>
            </th>
          )}
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
            chosen={onChoose && chosen?.has(run.run_id)}
            {...{ scale, columns, onChoose, actions }}
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
  columns: readonly RunColumn[];
  /** Absent where runs cannot be chosen. */
  chosen: boolean | undefined;
  onChoose: RunTableProps["onChoose"];
  actions: RunTableProps["actions"];
}

const Row = memo(function Row({
  run,
  row,
  marked,
  now,
  scale,
  columns,
  chosen,
  onChoose,
  actions,
}: RowProps) {
  const words = usePageWords();
  const navigate = useNavigate();
  const open = (e: React.MouseEvent) => {
    if (e.target instanceof Element && e.target.closest("a,button,input,.ckc")) return;
    void navigate({ to: "/runs/$runId", params: { runId: run.run_id } });
  };
  return (
    <tr data-row={row} className={`click${marked ? " mark" : ""}${chosen ? " sel" : ""}`} onClick={open}>
      {chosen !== undefined && (
        <td className="ckc">
          <input
            type="checkbox"
            className="ck"
            aria-label={words.t.act.select(shortId(run.run_id))}
            checked={chosen}
            onChange={(e) => onChoose?.(row, e.nativeEvent instanceof MouseEvent && e.nativeEvent.shiftKey)}
          />
        </td>
      )}
      <td>
        <Status status={run.status} />
        {run.attempt > 1 && <span className="mut num times">×{run.attempt}</span>}
      </td>
      {columns.map((column) => (
        <td key={column} data-col={column} className={classes[column]}>
          {cellOf(column, { run, now, scale }, words)}
        </td>
      ))}
      {actions && <td className="r">{actions(run)}</td>}
    </tr>
  );
});

/** What a run has in a column. */
function cellOf(
  column: RunColumn,
  { run, now, scale }: Pick<RowProps, "run" | "now" | "scale">,
  { t, f }: PageWords,
): ReactNode {
  switch (column) {
    case "job": {
      const [group = "", name = ""] = run.job.split("/");
      return <JobName group={group} name={name} />;
    }
    case "run":
      return (
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className="mono plain">
          {shortId(run.run_id)}
        </Link>
      );
    case "trigger":
      return <CauseMark cause={run.cause} by={run.by} />;
    case "fire":
      return (
        <>
          <Clock at={run.fire_time} />
          {run.count > 1 && <span className="tag tight">{t.runs.fires(run.count)}</span>}
        </>
      );
    case "delay": {
      const delay = delayOf(run);
      return delay === undefined ? "—" : formatDuration(delay);
    }
    case "duration": {
      const duration = durationOf(run, now);
      return (
        <span className="row g2">
          <DurationBar run={run} share={duration === undefined ? 0 : duration / scale} />
          <span className="num">{duration === undefined ? "—" : formatDuration(duration)}</span>
        </span>
      );
    }
    case "executor": {
      const host = hostOf(run);
      if (host !== undefined)
        return (
          <span className="instname row g1" title={t.pings.reportedBy(host)}>
            <Ear size={14} aria-hidden className="mut" />
            {host || t.ledger.outcomes.reported}
          </span>
        );
      return (
        <span className="instname" title={run.instance}>
          {run.instance ?? "—"}
        </span>
      );
    }
    case "result": {
      const result = resultOf(run, (reason) => say(reason, t, f));
      return (
        <span className="trunc sec" title={result}>
          {result}
        </span>
      );
    }
    case "started":
      return <Began run={run} />;
    case "finished":
      return run.finished_at ? <Clock at={run.finished_at} /> : "—";
    case "attempt":
      return f.number(run.attempt);
    case "version":
      return `v${run.version}`;
    case "pieces":
      return run.broadcast_total ? f.number(run.broadcast_total) : "—";
  }
}

function Began({ run }: { run: Run }) {
  const at = beganAt(run);
  return at ? <Clock at={at} /> : "—";
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
