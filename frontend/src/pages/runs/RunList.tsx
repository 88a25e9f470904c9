import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Activity, OctagonX, RotateCcw, SearchX } from "lucide-react";
import { useCallback, useMemo, useRef, useState } from "react";
import { latestRuns, type RunFilter, runList, sortedRuns, sortName } from "@/api/runs";
import type { Run } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { RunTable } from "@/components/RunTable";
import { useRowKeys } from "@/components/useRowKeys";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import type { RunColumn, RunSort, Sort } from "@/lib/columns";
import { refOf } from "@/lib/jobref";
import { isAbsent, isLiving } from "@/lib/status";
import { useCancelRun, useRerunSoon } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { Bulk } from "./Bulk";

/** How many runs a list in another order than by their fires has: the server gives no second page of it. */
const mostSorted = 200;

interface RunListProps {
  filter: RunFilter;
  /** The filter is narrower than the range. */
  narrowed: boolean;
  /** New runs may come. */
  followed: boolean;
  /** How many fires match. */
  matching: number;
  columns: readonly RunColumn[];
  sort: Sort<RunSort> | undefined;
  onSort(sort: Sort<RunSort> | undefined): void;
  /** Those that wait are to be shown: the list is read anew. */
  onNew(): void;
}

/** The runs that match as rows: page by page in the order of their fires, or the first in another order. */
export function RunList({
  filter,
  narrowed,
  followed,
  matching,
  columns,
  sort,
  onSort,
  onNew,
}: RunListProps) {
  const t = usePageT();
  const navigate = useNavigate();
  const may = useMay();
  const pages = useInfiniteQuery({ ...runList(filter), enabled: !sort });
  const first = useQuery({
    ...sortedRuns(filter, sortName(sort?.by ?? "fire", sort?.down ?? true), mostSorted),
    enabled: sort !== undefined,
  });
  const list = sort ? first : pages;
  const read = useMemo(
    () => (sort ? (first.data?.items ?? []) : (pages.data?.pages.flatMap((p) => p.items) ?? [])),
    [sort, first.data, pages.data],
  );
  // What has happened since is asked for beside the list: rows that are shown change in place, new ones wait.
  const latest = useQuery({
    ...latestRuns(filter, 100),
    enabled: !sort && followed && pages.data !== undefined && !pages.isPlaceholderData,
    // The list has just said it.
    initialData: sort || pages.isPlaceholderData ? undefined : pages.data?.pages[0],
    initialDataUpdatedAt: pages.dataUpdatedAt,
  }).data?.items;
  const fresh = new Map((latest ?? []).map((r) => [`${r.run_id}.${r.attempt}`, r]));
  const known = new Set(read.map((r) => `${r.run_id}.${r.attempt}`));
  const runs = read.map((r) => fresh.get(`${r.run_id}.${r.attempt}`) ?? r);
  const waiting = sort ? 0 : [...fresh.keys()].filter((k) => !known.has(k)).length;

  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef(-1);
  const shown = useRef(runs);
  shown.current = runs;
  const choose = useCallback((row: number, range: boolean) => {
    const ids = shown.current.map((r) => r.run_id);
    setChosen((was) => {
      const next = new Set(was);
      const on = !was.has(ids[row] ?? "");
      const [a, b] = range && last.current >= 0 ? [last.current, row].sort((x, y) => x - y) : [row, row];
      for (const id of ids.slice(a, (b ?? row) + 1)) {
        if (on) next.add(id);
        else next.delete(id);
      }
      last.current = row;
      return next;
    });
  }, []);
  const chooseAll = () =>
    setChosen((was) =>
      runs.every((r) => was.has(r.run_id)) ? new Set() : new Set(runs.map((r) => r.run_id)),
    );

  const cancel = useCancelRun();
  const rerun = useRerunSoon();
  const rows = useRowKeys(runs.length, {
    enter: (i) => void navigate({ to: "/runs/$runId", params: { runId: runs[i]?.run_id ?? "" } }),
    x: (i) => choose(i, false),
  });
  useKeys(rows.bindings);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the mutations themselves stay the same
  const actions = useCallback(
    (run: Run) => {
      const operates = may("operate", refOf(run.job).group);
      if (isAbsent(run.status) || (run.reported && !isLiving(run.status))) return null;
      return isLiving(run.status) ? (
        <IconButton
          icon={OctagonX}
          size={14}
          label={t.act.cancelRun}
          may={operates}
          onClick={() => cancel.mutate({ runId: run.run_id, job: run.job, reason: "" })}
        />
      ) : (
        <IconButton
          icon={RotateCcw}
          size={14}
          label={t.act.runAgain}
          may={operates}
          onClick={() => rerun({ runId: run.run_id, job: run.job })}
        />
      );
    },
    [t, may("operate")],
  );
  return (
    <>
      {waiting > 0 && (
        <div className="newrows">
          <button type="button" className="chip fresh" onClick={onNew}>
            {t.runlist.newRuns(waiting)}
          </button>
        </div>
      )}
      <div className={list.isPlaceholderData ? "sideways stale" : "sideways"}>
        {!list.data ? (
          <Waiting on={list} rows={14} />
        ) : runs.length === 0 ? (
          <Empty
            icon={narrowed ? SearchX : Activity}
            title={narrowed ? t.runlist.none : t.runlist.noneYet}
            hint={
              filter.error ? t.runlist.retriedHint : narrowed ? t.runlist.noneHint : t.runlist.noneYetHint
            }
          />
        ) : (
          <RunTable
            runs={runs}
            columns={columns}
            marked={rows.marked}
            sort={sort ?? { by: "fire", down: true }}
            onSort={(next) => onSort(next?.by === "fire" && next.down ? undefined : next)}
            chosen={chosen}
            onChoose={choose}
            onChooseAll={chooseAll}
            actions={actions}
          />
        )}
      </div>
      {runs.length > 0 &&
        (sort ? (
          <p className="foot sorted mut">{t.runlist.sortedHint(runs.length, runs.length < mostSorted)}</p>
        ) : (
          <More of={pages} end={t.runlist.end} />
        ))}
      {chosen.size > 0 && (
        <Bulk
          runs={runs}
          chosen={chosen}
          filter={filter}
          matching={matching}
          onClear={() => setChosen(new Set())}
        />
      )}
    </>
  );
}
