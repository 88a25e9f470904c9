import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Download, SearchX } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { latestRuns, type RunFilter, runCounts, runFacets, runList, runsExport } from "@/api/runs";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { More } from "@/components/More";
import { Empty, Skeleton } from "@/components/Panel";
import { RunTable } from "@/components/RunTable";
import { Segments } from "@/components/Segments";
import { StackChart } from "@/components/StackChart";
import { useRowKeys } from "@/components/useRowKeys";
import { Waiting } from "@/components/Waiting";
import { Zoomed } from "@/components/Zoomed";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { runColumns, usualRunColumns } from "@/lib/columns";
import { useNow } from "@/lib/now";
import { addTotals, alignedEnd, barsOf, spans, totalsOf } from "@/lib/ranges";
import { parseSearch, queryOf } from "@/lib/search";
import { statuses } from "@/lib/status";
import { breakdowns, causes, ranges, runsSearch } from "@/router";
import { ColumnsButton } from "@/shell/ColumnsButton";
import { useKeys } from "@/shell/keys";
import { Page } from "@/shell/Page";
import { SavedViews } from "@/shell/SavedViews";
import { useColumns } from "@/shell/useColumns";

const Breakdown = lazy(() => import("./Breakdown"));

const usual = usualRunColumns();
const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** Every run of every job, by filters that are in the address. */
export default function RunsPage() {
  const t = useT();
  const now = useNow();
  const navigate = useNavigate({ from: "/runs" });
  const search = useSearch({ from: "/runs" });
  const { range = "24h", from, to, job, group, status, cause, instance, by, cols } = search;
  const [stamp, setStamp] = useState(serverNow);

  // A relative range begins where it began when the list was read, so that pages fit together.
  const span = spans[range];
  const fixed = from !== undefined && to !== undefined && Date.parse(to) > Date.parse(from);
  const own: RunFilter = { job, group, status, cause, instance };
  const window = fixed ? { from, to } : { from: iso(Math.floor((stamp - span) / 1000) * 1000) };
  const list = useInfiniteQuery(runList({ ...own, ...window }));
  // What there is to choose from does not hold up the rows.
  const facets = useQuery({ ...runFacets({ ...own, ...window }), enabled: list.data !== undefined }).data
    ?.items;
  const counted = (dimension: string) => new Map(facets?.[dimension]?.map((v) => [v.value, v.count]));
  const found = (dimension: string, chosen: string[] = []) => {
    const counts = counted(dimension);
    return [...new Set([...chosen, ...counts.keys()])].map((v) => ({ value: v, label: v, n: counts.get(v) }));
  };
  const part = fixed ? (Date.parse(to) - Date.parse(from)) / parts : span / parts;
  const end = fixed ? Date.parse(to) : alignedEnd(now, part);
  const counts = useQuery(runCounts({ ...own, from: iso(end - part * parts), to: iso(end) }, parts));
  const key = JSON.stringify({ own, range, from, to });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is read as of now
  useEffect(() => setStamp(serverNow()), [key]);

  const read = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  // What has happened since is asked for beside the list: rows that are shown change in place, new ones wait.
  const latest = useQuery({
    ...latestRuns({ ...own, ...window }, 100),
    enabled: !fixed && list.data !== undefined && !list.isPlaceholderData,
    // The list has just said it.
    initialData: list.isPlaceholderData ? undefined : list.data?.pages[0],
    initialDataUpdatedAt: list.dataUpdatedAt,
  }).data?.items;
  const fresh = new Map((latest ?? []).map((r) => [`${r.run_id}.${r.attempt}`, r]));
  const known = new Set(read.map((r) => `${r.run_id}.${r.attempt}`));
  const runs = read.map((r) => fresh.get(`${r.run_id}.${r.attempt}`) ?? r);
  const waiting = [...fresh.keys()].filter((k) => !known.has(k)).length;
  const showNew = () => setStamp(serverNow());

  const totals = counts.data?.items.map(totalsOf) ?? [];
  const bars = barsOf(totals, end - part * parts, part);
  const sum = addTotals(totals);
  const all = sum.ok + sum.bad + sum.other + sum.living;

  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const columns = useColumns({ name: "runs", all: runColumns, usual }, cols, (next) => set({ cols: next }));
  const rows = useRowKeys(runs.length, {
    enter: (i) => void navigate({ to: "/runs/$runId", params: { runId: runs[i]?.run_id ?? "" } }),
  });
  useKeys(rows.bindings);
  const filtered = Boolean(job || group || status || cause || instance || fixed);
  const orNone = <T,>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values);
  return (
    <Page
      crumbs={[{ text: t.runs.title }]}
      actions={
        <>
          {(["csv", "ndjson"] as const).map((format) => (
            <a
              key={format}
              className="btn hide-s"
              href={runsExport({ ...own, ...window }, format)}
              download={`runs.${format}`}
            >
              <Download size={14} aria-hidden />
              {format.toUpperCase()}
            </a>
          ))}
          <Segments
            label={t.runs.range}
            value={fixed ? "" : range}
            options={ranges.map((r) => ({ value: r, label: r }))}
            onChange={(next) => set({ range: oneRange(next), from: undefined, to: undefined })}
          />
        </>
      }
      head={
        <div className="filters">
          <FilterField
            value={job?.join(" ") ?? ""}
            placeholder={t.runs.filterJob}
            onChange={(text) =>
              set({ job: orNone(text.split(/\s+/).filter((j) => /^[^/]+\/[^/]+$/.test(j))) })
            }
          />
          <FilterChip
            name={t.runs.status}
            multiple
            options={statuses.map((s) => ({ value: s, label: t.status[s], n: counted("status").get(s) }))}
            chosen={status ?? []}
            onChange={(next) => set({ status: orNone(next) })}
          />
          <FilterChip
            name={t.runs.cause}
            multiple
            options={causes.map((c) => ({ value: c, label: t.cause[c], n: counted("cause").get(c) }))}
            chosen={cause ?? []}
            onChange={(next) => set({ cause: orNone(next) })}
          />
          <FilterChip
            name={t.runs.columns.job}
            multiple
            options={found("job", job)}
            chosen={job ?? []}
            onChange={(next) => set({ job: orNone(next) })}
          />
          <FilterChip
            name={t.runs.group}
            options={found("group", group ? [group] : [])}
            chosen={group ? [group] : []}
            onChange={([next]) => set({ group: next })}
          />
          <FilterChip
            name={t.runs.instance}
            options={found("instance", instance ? [instance] : [])}
            chosen={instance ? [instance] : []}
            onChange={([next]) => set({ instance: next })}
          />
          <SavedViews
            page="runs"
            query={queryOf({ ...search, cols: undefined })}
            onOpen={(query) => void navigate({ search: runsSearch(parseSearch(query)) })}
          />
          {!by && <ColumnsButton columns={columns} labels={t.runs.columns} />}
          {filtered && (
            <Button look="ghost" small onClick={() => void navigate({ search: { cols } })}>
              {t.act.clearFilters}
            </Button>
          )}
          <span className="right mut num">{counts.data && t.runs.histogram(all)}</span>
        </div>
      }
    >
      <div className="histogram">
        <StackChart
          bars={bars}
          now={now}
          height={112}
          label={t.overview.chartLabel(sum.ok + sum.bad, sum.bad, 0)}
          onOpen={(bar) => set({ from: iso(bar.from), to: iso(bar.to) })}
        />
        {fixed && (
          <Zoomed from={from} to={to} now={now} onLeave={() => set({ from: undefined, to: undefined })} />
        )}
      </div>
      <div className="filters">
        <Segments
          label={t.runs.breakdown.label}
          value={by ?? "none"}
          options={(["none", ...breakdowns] as const).map((b) => ({ value: b, label: t.runs.breakdown[b] }))}
          onChange={(next) => set({ by: breakdowns.find((b) => b === next), sort: undefined })}
        />
      </div>
      {by ? (
        <Suspense fallback={<Skeleton rows={10} />}>
          <Breakdown
            by={by}
            search={search}
            range={{ from: iso(end - part * parts), to: iso(end) }}
            onSort={(sort) => set({ sort })}
          />
        </Suspense>
      ) : (
        <>
          {waiting > 0 && (
            <div className="newrows">
              <button type="button" className="chip fresh" onClick={showNew}>
                {t.runs.newRuns(waiting)}
              </button>
            </div>
          )}
          <div className={list.isPlaceholderData ? "sideways stale" : "sideways"}>
            {!list.data ? (
              <Waiting on={list} rows={14} />
            ) : runs.length === 0 ? (
              <Empty icon={SearchX} title={t.runs.none} hint={t.runs.noneHint} />
            ) : (
              <RunTable runs={runs} columns={columns.shown} marked={rows.marked} />
            )}
          </div>
          {runs.length > 0 && <More of={list} end={t.runs.end} />}
        </>
      )}
    </Page>
  );
}

function oneRange(text: string) {
  const range = ranges.find((r) => r === text);
  return range === "24h" ? undefined : range;
}
