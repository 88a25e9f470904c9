import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FileUp, ListChecks, Plus, SearchX } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { type JobFilter, jobCount, jobList } from "@/api/jobs";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { useWords } from "@/lib/format";
import { failures, living } from "@/lib/status";
import type { jobViews } from "@/router";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { Bulk } from "./Bulk";
import { JobTable } from "./JobTable";

const ImportDialog = lazy(() => import("./import/ImportDialog"));

type View = (typeof jobViews)[number];

const views: Record<View, JobFilter> = {
  failing: { last: failures },
  running: { last: living },
  paused: { paused: true },
};

/** All jobs, by name, with what became of their last runs and when they fire next. */
export default function JobsPage() {
  const { t, f } = useWords();
  const navigate = useNavigate({ from: "/jobs" });
  const { q, group, view } = useSearch({ from: "/jobs" });
  const own = { q: q?.trim() || undefined, group };
  const filter: JobFilter = { ...own, ...(view ? views[view] : {}) };
  const list = useInfiniteQuery(jobList(filter));
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const mayEdit = useMay()("edit");
  const [importing, setImporting] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);

  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  const total = list.data?.pages[0]?.total ?? 0;
  const key = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter begins at the top, with nothing selected
  useEffect(() => {
    setSelected(new Set());
    scroller.current?.scrollTo(0, 0);
  }, [key]);

  const set = (change: { q?: string; group?: string }) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const isFiltered = own.q !== undefined || group !== undefined || view !== undefined;
  const described = [
    own.q && `“${own.q}”`,
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
            <ViewTab filter={own} on={!view} text={t.jobs.views.all} />
            <ViewTab view="failing" filter={own} on={view === "failing"} text={t.jobs.views.failing} />
            <ViewTab view="running" filter={own} on={view === "running"} text={t.jobs.views.running} />
            <ViewTab view="paused" filter={own} on={view === "paused"} text={t.jobs.views.paused} />
          </nav>
          <div className="filters">
            <FilterField
              value={q ?? ""}
              placeholder={t.jobs.filter}
              onChange={(text) => set({ q: text || undefined })}
            />
            <FilterChip
              name={t.jobs.group}
              options={groups.map((g) => ({ value: g.executor_group, label: g.executor_group }))}
              chosen={group ? [group] : []}
              onChange={([next]) => set({ group: next })}
            />
            {isFiltered && (
              <Button look="ghost" small onClick={() => void navigate({ search: {} })}>
                {t.act.clearFilters}
              </Button>
            )}
            <span className="right mut num">{list.data && t.jobs.total(total)}</span>
          </div>
        </>
      }
    >
      <div className={`scroller${list.isPlaceholderData ? " stale" : ""}`} ref={scroller}>
        {list.isError && !list.data ? (
          <Failed error={list.error} onRetry={() => void list.refetch()} />
        ) : list.isPending ? (
          <Skeleton rows={14} height={46} />
        ) : items.length === 0 ? (
          isFiltered ? (
            <Empty icon={SearchX} title={t.jobs.none} hint={t.jobs.noneHint(described.join(" · "))}>
              <Button onClick={() => void navigate({ search: {} })}>{t.act.clearFilters}</Button>
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
              scroller={scroller}
              selected={selected}
              onSelect={setSelected}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
            />
            <p className="foot mut num">{t.jobs.showing(items.length, total)}</p>
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
function ViewTab({ view, filter, on, text }: { view?: View; filter: JobFilter; on: boolean; text: string }) {
  const { f } = useWords();
  const { data } = useQuery(jobCount({ ...filter, ...(view ? views[view] : {}) }));
  return (
    <Link
      to="/jobs"
      search={{ q: filter.q, group: filter.group, view }}
      className={on ? "tab on" : "tab"}
      aria-current={on ? "page" : undefined}
    >
      {text}
      {data !== undefined && <span className="n">{f.number(data)}</span>}
    </Link>
  );
}
