import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { latestRuns, type RunFilter, runCounts, runList } from "@/api/runs";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { RunTable } from "@/components/RunTable";
import { Segments } from "@/components/Segments";
import { type Bar, StackChart } from "@/components/StackChart";
import { useRowKeys } from "@/components/useRowKeys";
import { Waiting } from "@/components/Waiting";
import { serverNow } from "@/lib/clock";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { addTotals, alignedEnd, spans, totalsOf } from "@/lib/ranges";
import { parseSearch, queryOf } from "@/lib/search";
import { statuses } from "@/lib/status";
import { causes, ranges, runsSearch } from "@/router";
import { GroupFilter } from "@/shell/GroupFilter";
import { useKeys } from "@/shell/keys";
import { Page } from "@/shell/Page";
import { SavedViews } from "@/shell/SavedViews";

const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** Every run of every job, by filters that are in the address. */
export default function RunsPage() {
  const { t, f } = useWords();
  const now = useNow();
  const navigate = useNavigate({ from: "/runs" });
  const search = useSearch({ from: "/runs" });
  const { range = "24h", from, to, job, group, status, cause, instance } = search;
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const [stamp, setStamp] = useState(serverNow);

  // A relative range begins where it began when the list was read, so that pages fit together.
  const span = spans[range];
  const fixed = from !== undefined && to !== undefined && Date.parse(to) > Date.parse(from);
  const own: RunFilter = { job, group, status, cause, instance };
  const window = fixed ? { from, to } : { from: iso(Math.floor((stamp - span) / 1000) * 1000) };
  const list = useInfiniteQuery(runList({ ...own, ...window }));
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
    enabled: !fixed && list.data !== undefined,
  }).data?.items;
  const fresh = new Map((latest ?? []).map((r) => [`${r.run_id}.${r.attempt}`, r]));
  const known = new Set(read.map((r) => `${r.run_id}.${r.attempt}`));
  const runs = read.map((r) => fresh.get(`${r.run_id}.${r.attempt}`) ?? r);
  const waiting = [...fresh.keys()].filter((k) => !known.has(k)).length;
  const showNew = () => setStamp(serverNow());

  const totals = counts.data?.items.map(totalsOf) ?? [];
  const bars: Bar[] = totals.map((x, i) => ({
    from: end - part * (parts - i),
    to: end - part * (parts - i - 1),
    ok: x.ok,
    bad: x.bad,
    other: x.other + x.living,
    planned: 0,
  }));
  const sum = addTotals(totals);
  const all = sum.ok + sum.bad + sum.other + sum.living;

  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
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
        <Segments
          label={t.runs.range}
          value={fixed ? "" : range}
          options={ranges.map((r) => ({ value: r, label: r }))}
          onChange={(next) => set({ range: oneRange(next), from: undefined, to: undefined })}
        />
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
            options={statuses.map((s) => ({ value: s, label: t.status[s] }))}
            chosen={status ?? []}
            onChange={(next) => set({ status: orNone(next) })}
          />
          <FilterChip
            name={t.runs.cause}
            multiple
            options={causes.map((c) => ({ value: c, label: t.cause[c] }))}
            chosen={cause ?? []}
            onChange={(next) => set({ cause: orNone(next) })}
          />
          <GroupFilter group={group} onChange={(next) => set({ group: next })} />
          <FilterChip
            name={t.runs.instance}
            options={groups.flatMap((g) =>
              g.instances.map((i) => ({ value: i.instance, label: i.instance })),
            )}
            chosen={instance ? [instance] : []}
            onChange={([next]) => set({ instance: next })}
          />
          <SavedViews
            page="runs"
            query={queryOf(search)}
            onOpen={(query) => void navigate({ search: runsSearch(parseSearch(query)) })}
          />
          {filtered && (
            <Button look="ghost" small onClick={() => void navigate({ search: {} })}>
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
          <p className="zoomed">
            <span className="tag num">
              {f.short(from, now)} – {f.short(to, now)}
            </span>
            <Button small onClick={() => set({ from: undefined, to: undefined })}>
              {t.runs.zoomOut}
            </Button>
          </p>
        )}
      </div>
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
          <RunTable runs={runs} withJob withExecutor marked={rows.marked} />
        )}
      </div>
      {runs.length > 0 && <More of={list} end={t.runs.end} />}
    </Page>
  );
}

function oneRange(text: string) {
  const range = ranges.find((r) => r === text);
  return range === "24h" ? undefined : range;
}
