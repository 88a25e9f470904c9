import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FileUp, ListChecks, Plus, SearchX } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { type JobFilter, jobCount, jobList } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterField } from "@/components/FilterField";
import { Empty } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { jobColumns, readSort, type Sort, sorted, writeSort } from "@/lib/columns";
import { useWords } from "@/lib/format";
import { parseSearch, queryOf } from "@/lib/search";
import { failures, living } from "@/lib/status";
import { jobsSearch, jobViews } from "@/router";
import { ColumnsButton } from "@/shell/ColumnsButton";
import { GroupFilter } from "@/shell/GroupFilter";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { SavedViews, useMyViews } from "@/shell/SavedViews";
import { useColumns } from "@/shell/useColumns";
import { Bulk } from "./Bulk";
import { type SortColumn, sortColumns, sortValues, usualColumns } from "./columns";
import { JobTable } from "./JobTable";

const ImportDialog = lazy(() => import("./import/ImportDialog"));

const views: Record<(typeof jobViews)[number], JobFilter> = {
  failing: { last: failures },
  running: { last: living },
  paused: { paused: true },
};

type Search = ReturnType<typeof jobsSearch>;

function filterOf({ q, group, view }: Search): JobFilter {
  return { q: q?.trim() || undefined, group, ...(view ? views[view] : {}) };
}

/** Lists of up to so many jobs are loaded whole, and sorted here: the server has them by name. */
const mostSorted = 200;

/**
 * Jobs in the order of a column as it was when the sort or the jobs became others: what changes of
 * them meanwhile moves no row under the pointer.
 */
function useInOrder(items: JobItem[], sort: Sort<SortColumn> | undefined): JobItem[] {
  const names = items.map((i) => i.definition.job).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: not for what changes of the same jobs
  const places = useMemo(() => {
    if (!sort) return undefined;
    const order = sorted(items, sortValues[sort.by], sort.down);
    return new Map(order.map((item, place) => [item.definition.job, place]));
  }, [names, sort?.by, sort?.down]);
  return places ? sorted(items, (i) => places.get(i.definition.job), false) : items;
}

/** All jobs, by name, with what became of their last runs and when they fire next. */
export default function JobsPage() {
  const { t, f } = useWords();
  const navigate = useNavigate({ from: "/jobs" });
  const search = useSearch({ from: "/jobs" });
  const { q, group, view, sort: wanted, cols } = search;
  const filter = filterOf(search);
  // Columns are a person's, not a view's.
  const query = queryOf({ q, group, view, sort: wanted });
  const saved = useMyViews("jobs");
  const here = saved.find((v) => v.query === query);
  const sort = readSort(wanted, sortColumns);
  const list = useInfiniteQuery(jobList(filter, sort && mostSorted));
  const mayEdit = useMay()("edit");
  const [importing, setImporting] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);

  const total = list.data?.pages[0]?.total ?? 0;
  const sortable = total <= mostSorted;
  const key = JSON.stringify([filter, wanted]);
  const items = useInOrder(list.data?.pages.flatMap((p) => p.items) ?? [], sortable ? sort : undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins at the top, with nothing selected
  useEffect(() => {
    setSelected(new Set());
    scroller.current?.scrollTo(0, 0);
  }, [key]);

  const set = (change: Partial<Search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const columns = useColumns({ name: "jobs", all: jobColumns, usual: usualColumns }, cols, (next) =>
    set({ cols: next }),
  );
  const clear = () => void navigate({ search: { sort: wanted, cols } });
  const isFiltered = filter.q !== undefined || group !== undefined || view !== undefined;
  const described = [
    filter.q && `“${filter.q}”`,
    group && `${t.jobs.group} ${group}`,
    view && t.jobs.views[view],
  ].filter(Boolean);

  return (
    <Page
      crumbs={[{ text: t.jobs.title }]}
      fixed
      actions={
        mayEdit && (
          <>
            <Button icon={FileUp} className="hide-s" onClick={() => setImporting(true)}>
              {t.jobs.importing}
            </Button>
            <Link to="/jobs/new" className="btn pri">
              <Plus size={14} aria-hidden />
              <span className="hide-s">{t.act.newJob}</span>
            </Link>
          </>
        )
      }
      head={
        <>
          <nav className="tabs" aria-label={t.jobs.title}>
            <ViewTab search={{ q, group, sort: wanted, cols }} on={!view && !here} text={t.jobs.views.all} />
            {jobViews.map((v) => (
              <ViewTab
                key={v}
                search={{ q, group, view: v, sort: wanted, cols }}
                on={view === v && !here}
                text={t.jobs.views[v]}
              />
            ))}
            {saved.map((v) => (
              <ViewTab key={v.name} search={jobsSearch(parseSearch(v.query))} on={v === here} text={v.name} />
            ))}
          </nav>
          <div className="filters">
            <FilterField
              value={q ?? ""}
              placeholder={t.jobs.filter}
              eager
              onChange={(text) => set({ q: text || undefined })}
            />
            <GroupFilter group={group} onChange={(next) => set({ group: next })} />
            <SavedViews
              page="jobs"
              query={query}
              onOpen={(next) => void navigate({ search: jobsSearch(parseSearch(next)) })}
            />
            <ColumnsButton columns={columns} labels={t.jobs.columns} />
            {isFiltered && (
              <Button look="ghost" small onClick={clear}>
                {t.act.clearFilters}
              </Button>
            )}
            <span className="right mut num">{list.data && t.jobs.total(total)}</span>
          </div>
        </>
      }
    >
      <div className={`scroller${list.isPlaceholderData ? " stale" : ""}`} ref={scroller}>
        {!list.data ? (
          <Waiting on={list} rows={14} height={46} />
        ) : items.length === 0 ? (
          isFiltered ? (
            <Empty icon={SearchX} title={t.jobs.none} hint={t.jobs.noneHint(described.join(" · "))}>
              <Button onClick={clear}>{t.act.clearFilters}</Button>
            </Empty>
          ) : (
            <Empty icon={ListChecks} title={t.jobs.empty} hint={t.jobs.emptyHint}>
              <pre className="code">carillon apply -f jobs.yaml</pre>
              <Link to="/jobs/new" className="btn pri">
                <Plus size={14} aria-hidden />
                {t.act.newJob}
              </Link>
            </Empty>
          )
        ) : (
          <>
            <JobTable
              items={items}
              columns={columns.shown}
              sort={sort}
              onSort={sortable ? (next) => set({ sort: writeSort(next) }) : undefined}
              scroller={scroller}
              selected={selected}
              onSelect={setSelected}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
            />
            <p className="foot mut num">
              {t.jobs.showing(items.length, total)}
              {sort && !sortable && ` · ${t.jobs.sortsUpTo(mostSorted)}`}
            </p>
          </>
        )}
      </div>
      {importing && (
        <Suspense>
          <ImportDialog onClose={() => setImporting(false)} />
        </Suspense>
      )}
      {selected.size > 0 && (
        <Bulk
          filter={filter}
          total={total}
          known={items.filter((i) => selected.has(i.definition.job))}
          selected={selected}
          onSelect={setSelected}
        />
      )}
      <span className="sr" role="status">
        {list.data && f.number(total)}
      </span>
    </Page>
  );
}

/** A view as a tab, with how many jobs are in it. */
function ViewTab({ search, on, text }: { search: Search; on: boolean; text: string }) {
  const { f } = useWords();
  const { data } = useQuery(jobCount(filterOf(search)));
  return (
    <Link to="/jobs" search={search} className={on ? "tab on" : "tab"} aria-current={on ? "page" : undefined}>
      {text}
      {data !== undefined && <span className="n">{f.number(data)}</span>}
    </Link>
  );
}
