import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileSearch, Radio, SearchX, Square } from "lucide-react";
import { useMemo } from "react";
import { type LogFilter, logCounts, logSearch, logTail } from "@/api/logs";
import type { LogHit } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { Zoomed } from "@/components/Zoomed";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { parseSearch, queryOf } from "@/lib/search";
import { termsOf } from "@/lib/searchwords";
import { levels, logsSearch } from "@/router";
import { GroupFilter } from "@/shell/GroupFilter";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { SavedViews } from "@/shell/SavedViews";
import { useRange } from "@/shell/useRange";
import { ExportMenu } from "./ExportMenu";
import { Hit } from "./Hit";
import { LevelChart } from "./LevelChart";
import { levelBars, linesIn, newestFirst } from "./levels";
import { useWatch } from "./useWatch";
import { readWords, withWords } from "./words";

/** How many bars the chart of lines has. */
const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** So many lines are on the page while one follows what is printed. */
const mostTailed = 500;
const nameOf = (l: LogHit) => `${l.run_id}.${l.attempt}.${l.broadcast_index ?? ""}.${l.seq}`;

/** What all runs print, by words. Each line leads to its place in its run. */
export default function LogsPage() {
  const t = usePageT();
  const f = useFormat();
  const navigate = useNavigate({ from: "/logs" });
  const search = useSearch({ from: "/logs" });
  const now = useNow();
  const { q, level, job, group, run, tail } = search;
  const ranged = useRange(search, { shows: "logs", within: [q, level, job, group, run, tail] });
  const fixed = ranged.range.name === undefined;
  const filter: LogFilter = {
    text: q,
    level,
    job,
    group,
    run_id: run,
    ...ranged.window,
  };
  const found = useInfiniteQuery({ ...logSearch(filter), enabled: !tail });
  const last = useQuery({ ...logTail(filter), enabled: tail !== undefined });
  const list = tail ? last : found;
  const watch = useWatch(filter, tail !== undefined);
  // What was printed before one began to listen, or just then, is with what is heard since: each line once.
  const lines = useMemo(() => {
    // The server has the newest run first, whenever it printed.
    if (!tail) return newestFirst(found.data?.pages.flatMap((p) => p.items) ?? []);
    const heard = new Set(watch.lines.map(nameOf));
    const before = last.data?.items.filter((l) => !heard.has(nameOf(l))) ?? [];
    return newestFirst([...watch.lines, ...before]).slice(0, mostTailed);
  }, [tail, watch.lines, last.data, found.data]);
  const more = tail ? last.data?.next !== undefined : found.hasNextPage;
  // The chart does not hold up the lines, and they are there without it.
  const counts = useQuery({
    ...logCounts(filter, parts, tail !== undefined),
    enabled: list.data !== undefined && !list.isPlaceholderData,
  });
  const bars = useMemo(() => (counts.data ? levelBars(counts.data) : []), [counts.data]);
  const total = Math.max(lines.length, tail ? 0 : linesIn(bars));
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const filtered = Boolean(q || level || job || group || run || fixed);
  const orNone = <T,>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values);
  const terms = termsOf(q ?? "");
  return (
    <Page
      crumbs={[{ text: t.nav.logs }]}
      actions={
        <>
          <ExportMenu filter={filter} />
          <Button
            icon={tail ? Square : Radio}
            aria-pressed={tail !== undefined}
            onClick={() =>
              set({ tail: tail ? undefined : "true", run: undefined, from: undefined, to: undefined })
            }
          >
            {t.logs.tail}
          </Button>
          <RangePicker of={ranged} onChange={set} />
        </>
      }
      head={
        <div className="filters">
          <FilterField
            value={q ?? ""}
            placeholder={t.logs.filter}
            reads={(text) => text.trim()}
            onChange={(text) => set({ q: text || undefined })}
            rewrite={(text, isFinished) => {
              const { rest, words: more } = readWords(text, isFinished);
              if (rest !== text) set(withWords({ level, job, group, run }, more));
              return rest;
            }}
          />
          <FilterChip
            name={t.logs.level}
            multiple
            options={levels.map((l) => ({ value: l, label: t.run.levels[l] ?? l }))}
            chosen={level ?? []}
            onChange={(next) => set({ level: orNone(next) })}
          />
          <GroupFilter group={group} onChange={(next) => set({ group: next })} />
          {job && (
            <FilterChip
              name={t.runs.columns.job}
              options={job.map((j) => ({ value: j, label: j }))}
              chosen={job}
              onChange={(next) => set({ job: orNone(next) })}
            />
          )}
          {run && (
            <FilterChip
              name={t.runs.columns.run}
              options={[{ value: run, label: shortId(run) }]}
              chosen={[run]}
              onChange={() => set({ run: undefined, from: undefined, to: undefined })}
            />
          )}
          <SavedViews
            page="logs"
            query={queryOf({ ...search, tail: undefined })}
            onOpen={(query) => void navigate({ search: { ...logsSearch(parseSearch(query)), tail } })}
          />
          {filtered && (
            <Button look="ghost" small onClick={() => void navigate({ search: { tail } })}>
              {t.act.clearFilters}
            </Button>
          )}
          <span className="right mut num">
            {list.data && t.logs.found(total, more && (tail !== undefined || counts.data?.complete !== true))}
          </span>
        </div>
      }
    >
      <RangeNote of={ranged} />
      {(list.data || counts.data) && (
        <div className="histogram">
          {counts.data ? (
            <LevelChart
              bars={bars}
              onOpen={(bar) => set({ from: iso(bar.from), to: iso(bar.to), tail: undefined })}
            />
          ) : (
            <Waiting on={counts} rows={1} height={84} />
          )}
          <p className="mut">
            {counts.data && t.logs.chartHint}{" "}
            {counts.data?.complete === false && t.logs.countedSince(f.short(counts.data.since, now))}{" "}
            {tail && t.logs.tailHint}{" "}
            {tail && watch.rate && (
              <b className={watch.rate.shown < watch.rate.lines ? "num c-warn" : "num"}>
                {t.logs.rate(watch.rate.lines, watch.rate.shown)}
              </b>
            )}
            {tail && watch.rate?.dropped && ` ${t.logs.dropped}`}
            {tail && watch.state === "waiting" && <b className="c-warn">{t.run.reconnecting}</b>}
          </p>
          {fixed && (
            <Zoomed range={ranged.range} now={now} onLeave={() => set({ from: undefined, to: undefined })} />
          )}
        </div>
      )}
      {!list.data ? (
        <Waiting on={list} rows={18} height={24} />
      ) : lines.length === 0 ? (
        <Empty
          icon={q ? SearchX : FileSearch}
          title={tail ? t.run.waitingLog : t.logs.none}
          hint={t.logs.noneHint}
        />
      ) : (
        <ol className={list.isPlaceholderData ? "hits stale" : "hits"} aria-label={t.nav.logs}>
          {lines.map((line, i) => (
            <Hit
              key={nameOf(line)}
              line={line}
              terms={terms}
              first={line.run_id !== lines[i - 1]?.run_id}
              onJob={(next) => set({ job: [next] })}
            />
          ))}
        </ol>
      )}
      {!tail && lines.length > 0 && <More of={found} end={t.logs.end} />}
    </Page>
  );
}
