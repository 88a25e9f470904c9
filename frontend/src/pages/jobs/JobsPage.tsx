import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FileUp, ListChecks, Plus, SearchX } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { choicesOf, filterOf, jobViews, orderOf, sortColumns, usualSort } from "@/api/joblist";
import { jobCount, jobList, namesMatching } from "@/api/jobs";
import { meQuery } from "@/api/session";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { jobColumns, readSort, writeSort } from "@/lib/columns";
import { useFormat } from "@/lib/format";
import { bare, jobFields } from "@/lib/jobfilter";
import { parseSearch, queryOf } from "@/lib/search";
import { jobsSearch } from "@/router";
import { ColumnsButton } from "@/shell/ColumnsButton";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import "@/styles/phone.css";
import { SavedViews, useMyViews } from "@/shell/SavedViews";
import { useColumns } from "@/shell/useColumns";
import { Bulk } from "./Bulk";
import { usualColumns } from "./columns";
import { Filters } from "./Filters";
import { JobTable } from "./JobTable";
import { SortMenu } from "./SortMenu";
import { useSteadyRows } from "./useSteadyRows";
import { nameOfValue } from "./valuenames";

const ImportDialog = lazy(() => import("./import/ImportDialog"));

type Search = ReturnType<typeof jobsSearch>;

/** All jobs, those first that need somebody, with what became of their last runs and when they fire next. */
export default function JobsPage() {
  const t = usePageT();
  const f = useFormat();
  const navigate = useNavigate({ from: "/jobs" });
  const search = useSearch({ from: "/jobs" });
  const { q, view, sort: wanted, cols } = search;
  const user = useQuery(meQuery).data?.user ?? "";
  const filter = filterOf(search, user);
  const choices = choicesOf(search);
  // Columns are a person's, not a view's.
  const query = queryOf({ q, ...choices, view, sort: wanted });
  const saved = useMyViews("jobs");
  const here = saved.find((v) => v.query === query);
  const sort = readSort(wanted, sortColumns);
  const order = orderOf(wanted);
  const list = useInfiniteQuery(jobList(filter, order));
  const mayEdit = useMay()("edit");
  const [importing, setImporting] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);

  const total = list.data?.pages[0]?.total ?? 0;
  const key = JSON.stringify([filter, order]);
  const loaded = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const items = useSteadyRows(loaded, list.isPlaceholderData ? "" : key, scroller, selected.size > 0);
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
  const chosen = jobFields.filter((field) => choices[field]);
  const isFiltered = filter.q !== undefined || chosen.length > 0 || view !== undefined;
  const described = [
    filter.q && `“${filter.q}”`,
    ...chosen.map((field) => {
      const values = (choices[field] ?? []).map((v) => {
        const name = nameOfValue(t, field, bare(v));
        return v.startsWith("-") ? t.joblist.not(name) : name;
      });
      return `${t.joblist.fields[field]} ${values.join(", ")}`;
    }),
    view && t.joblist.views[view],
  ].filter(Boolean);

  return (
    <Page
      crumbs={[{ text: t.joblist.title }]}
      fixed
      actions={
        mayEdit && (
          <>
            <Button icon={FileUp} className="hide-s" onClick={() => setImporting(true)}>
              {t.joblist.importing}
            </Button>
            <Link to="/jobs/new" className="btn pri" aria-label={t.act.newJob}>
              <Plus size={14} aria-hidden />
              <span className="hide-s">{t.act.newJob}</span>
            </Link>
          </>
        )
      }
      head={
        <>
          <nav className="tabs" aria-label={t.joblist.title}>
            <ViewTab
              search={{ q, ...choices, sort: wanted, cols }}
              user={user}
              on={!view && !here}
              text={t.joblist.views.all}
            />
            {jobViews.map((v) => (
              <ViewTab
                key={v}
                search={{ q, ...choices, view: v, sort: wanted, cols }}
                user={user}
                on={view === v && !here}
                text={t.joblist.views[v]}
              />
            ))}
            {saved.map((v) => (
              <ViewTab
                key={v.name}
                search={jobsSearch(parseSearch(v.query))}
                user={user}
                on={v === here}
                text={v.name}
              />
            ))}
          </nav>
          <div className="filters">
            <Filters
              q={q ?? ""}
              choices={choices}
              filter={filter}
              onText={(text) => set({ q: text || undefined })}
              onChoose={(next) => set(next)}
            />
            <SavedViews
              page="jobs"
              query={query}
              onOpen={(next) => void navigate({ search: jobsSearch(parseSearch(next)) })}
            />
            {isFiltered && (
              <Button look="ghost" small onClick={clear}>
                {t.act.clearFilters}
              </Button>
            )}
            <span className="right row g2">
              <span className="mut num">{list.data && t.joblist.total(total)}</span>
              <SortMenu
                sort={order}
                onSort={(next) => set({ sort: next === usualSort ? undefined : next })}
              />
              <ColumnsButton columns={columns} labels={t.joblist.columns} />
            </span>
          </div>
        </>
      }
    >
      <div className={`scroller${list.isPlaceholderData ? " stale" : ""}`} ref={scroller}>
        {!list.data ? (
          <Waiting on={list} rows={14} height={46} />
        ) : items.length === 0 ? (
          isFiltered ? (
            <Empty icon={SearchX} title={t.joblist.noMatch} hint={t.joblist.noneHint(described.join(" · "))}>
              <Button onClick={clear}>{t.act.clearFilters}</Button>
            </Empty>
          ) : (
            <Empty icon={ListChecks} title={t.joblist.empty} hint={t.joblist.emptyHint}>
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
              onSort={(next) => set({ sort: writeSort(next) })}
              scroller={scroller}
              selected={selected}
              onSelect={setSelected}
              onSelectAll={async () => setSelected(await namesMatching(filter))}
              onEnd={() => {
                if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage();
              }}
            />
            <p className="foot mut num">{t.joblist.showing(items.length, total)}</p>
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
function ViewTab({ search, user, on, text }: { search: Search; user: string; on: boolean; text: string }) {
  const f = useFormat();
  const { data } = useQuery(jobCount(filterOf(search, user)));
  return (
    <Link to="/jobs" search={search} className={on ? "tab on" : "tab"} aria-current={on ? "page" : undefined}>
      {text}
      {data !== undefined && <span className="n">{f.number(data)}</span>}
    </Link>
  );
}
