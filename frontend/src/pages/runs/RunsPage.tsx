import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { type RunFilter, runCounts, runFacets, runsExport } from "@/api/runs";
import { Button } from "@/components/Button";
import { ExportMenu } from "@/components/ExportMenu";
import { FilterField } from "@/components/FilterField";
import { Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { StackChart } from "@/components/StackChart";
import { Zoomed } from "@/components/Zoomed";
import { usePageT } from "@/i18n";
import { readSort, runColumns, runSorts, usualRunColumns, writeSort } from "@/lib/columns";
import { useNow } from "@/lib/now";
import { addTotals, barsOf, isNarrowable, totalsOf } from "@/lib/ranges";
import { scopeSearch } from "@/lib/scope";
import { parseSearch, queryOf } from "@/lib/search";
import { chartOf, chartWindow } from "@/lib/timerange";
import { breakdowns, runsSearch } from "@/router";
import { ColumnsButton } from "@/shell/ColumnsButton";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import "@/styles/phone.css";
import { SavedViews } from "@/shell/SavedViews";
import { useColumns } from "@/shell/useColumns";
import { useRange } from "@/shell/useRange";
import { FacetChips, FacetRail } from "./Facets";
import { RunList } from "./RunList";
import "./runs.css";
import { readWords } from "./words";

const Breakdown = lazy(() => import("./Breakdown"));

const usual = usualRunColumns();
const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** Every run of every job, by filters that are in the address. */
export default function RunsPage() {
  const t = usePageT();
  const now = useNow();
  const navigate = useNavigate({ from: "/runs" });
  const search = useSearch({ from: "/runs" });
  const { job, group, owner, tag, status, cause, instance, version, again, error, by, cols } = search;
  const others = { job, group, owner, tag, status, cause, instance, version, error };
  const own: RunFilter = { ...others, min_attempt: again && 2 };
  const ranged = useRange(search, { within: own });
  const { range, window } = ranged;
  const key = JSON.stringify({ own, range: ranged.search });
  const chart = chartOf(range, parts);
  const charted = chartWindow(range, parts);
  const counts = useQuery(runCounts({ ...own, ...charted }, parts));
  // What there is to choose from does not hold up the rows.
  const enabled = counts.data !== undefined;
  const found = useQuery({ ...runFacets({ ...own, ...window }), enabled }).data?.items;
  const tried = useQuery({
    ...runCounts({ ...others, min_attempt: 2, ...charted }, 1, 30_000),
    enabled,
  }).data;

  const totals = counts.data?.items.map(totalsOf) ?? [];
  const bars = barsOf(totals, chart.from, chart.part);
  const sum = addTotals(totals);
  const all = sum.ok + sum.bad + sum.other + sum.living;
  const triedAgain = tried && addTotals(tried.items.map(totalsOf));

  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const columns = useColumns({ name: "runs", all: runColumns, usual }, cols, (next) => set({ cols: next }));
  const filtered = Boolean(
    job ||
      group ||
      owner ||
      tag ||
      status ||
      cause ||
      instance ||
      version ||
      again ||
      error ||
      range.name === undefined,
  );
  const facets = {
    search,
    found,
    again: triedAgain && triedAgain.ok + triedAgain.bad + triedAgain.other + triedAgain.living,
    onSet: set,
  };
  return (
    <Page
      crumbs={[{ text: t.runlist.title }]}
      actions={
        <>
          <ExportMenu name="runs" href={(format) => runsExport({ ...own, ...window }, format)} />
          <RangePicker of={ranged} onChange={set} />
        </>
      }
      head={
        <div className="filters">
          <FilterField
            value={job?.join(" ") ?? ""}
            placeholder={t.runlist.filterJob}
            onChange={(text) => {
              const words = readWords(text);
              set({ job: words.jobs, ...words.rest });
            }}
          />
          <FacetChips {...facets} />
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
          <span className="right mut num">
            {counts.data && t.runlist.histogram(all - sum.absent, sum.absent)}
          </span>
        </div>
      }
    >
      <RangeNote of={ranged} />
      <div className="explorer">
        <FacetRail {...facets} />
        <div>
          <div className="histogram">
            <StackChart
              bars={bars}
              now={now}
              height={112}
              label={t.overview.chartLabel(sum.ok + sum.bad, sum.bad, 0)}
              onOpen={isNarrowable(bars) ? (bar) => set({ from: iso(bar.from), to: iso(bar.to) }) : undefined}
              onNarrow={(a, b) => set({ from: iso(a), to: iso(b) })}
            />
            {range.name === undefined && (
              <Zoomed range={range} now={now} onLeave={() => set({ from: undefined, to: undefined })} />
            )}
          </div>
          <div className="filters">
            <Segments
              label={t.runlist.breakdown.label}
              value={by ?? "none"}
              options={(["none", ...breakdowns] as const).map((b) => ({
                value: b,
                label: t.runlist.breakdown[b],
              }))}
              onChange={(next) => set({ by: breakdowns.find((b) => b === next), sort: undefined })}
            />
            <Link
              to="/errors"
              search={{ job, ...scopeSearch(search), error, ...ranged.search }}
              className="link right"
            >
              {t.runlist.byCause}
            </Link>
          </div>
          {by ? (
            <Suspense fallback={<Skeleton rows={10} />}>
              <Breakdown by={by} search={search} range={charted} onSort={(sort) => set({ sort })} />
            </Suspense>
          ) : (
            <RunList
              key={key}
              filter={{ ...own, ...window }}
              narrowed={filtered}
              followed={range.isOpen}
              matching={all}
              columns={columns.shown}
              sort={readSort(search.sort, runSorts)}
              onSort={(next) => set({ sort: writeSort(next) })}
              onNew={ranged.renew}
            />
          )}
        </div>
      </div>
    </Page>
  );
}
