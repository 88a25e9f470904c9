import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FileSearch, Radio, SearchX, Square } from "lucide-react";
import { memo, useMemo } from "react";
import { refOf } from "@/api/jobs";
import { type LogFilter, logCounts, logSearch, logTail, tailed } from "@/api/logs";
import type { LogLine } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { GroupDot } from "@/components/TaskIcon";
import { Waiting } from "@/components/Waiting";
import { Zoomed } from "@/components/Zoomed";
import { plainText } from "@/lib/ansi";
import { serverNow } from "@/lib/clock";
import { useFormat } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { spans } from "@/lib/ranges";
import { pieces, wordsOf } from "@/lib/searchwords";
import { levels, ranges } from "@/router";
import { GroupFilter } from "@/shell/GroupFilter";
import { Page } from "@/shell/Page";
import { LevelChart } from "./LevelChart";
import { levelBars, linesIn, newestFirst } from "./levels";
import { useLogsT } from "./texts";

/** How much of a line is shown; the run has all of it. */
const drawn = 600;
/** How many bars the chart of lines has. */
const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** What all runs print, by words. Each line leads to its place in its run. */
export default function LogsPage() {
  const t = useLogsT();
  const f = useFormat();
  const navigate = useNavigate({ from: "/logs" });
  const search = useSearch({ from: "/logs" });
  const now = useNow();
  const { q, level, job, group, range = "24h", from, to, tail } = search;
  const fixed = from !== undefined && to !== undefined && Date.parse(to) > Date.parse(from);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is read as of now
  const begin = useMemo(
    () => iso(Math.floor((serverNow() - spans[range]) / 1000) * 1000),
    [range, q, level, job, group, tail],
  );
  const filter: LogFilter = { text: q, level, job, group, ...(fixed ? { from, to } : { from: begin }) };
  const found = useInfiniteQuery({ ...logSearch(filter), enabled: !tail });
  const last = useQuery({ ...logTail(filter), enabled: tail !== undefined });
  const list = tail ? last : found;
  const lines = useMemo(
    () => (tail ? newestFirst(last.data?.items ?? []) : (found.data?.pages.flatMap((p) => p.items) ?? [])),
    [tail, last.data, found.data],
  );
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
  const filtered = Boolean(q || level || job || group || fixed);
  const orNone = <T,>(values: T[]): T[] | undefined => (values.length === 0 ? undefined : values);
  const words = wordsOf(q ?? "");
  return (
    <Page
      crumbs={[{ text: t.nav.logs }]}
      actions={
        <>
          <Button
            icon={tail ? Square : Radio}
            aria-pressed={tail !== undefined}
            onClick={() => set({ tail: tail ? undefined : "true", from: undefined, to: undefined })}
          >
            {t.logs.tail}
          </Button>
          <Segments
            label={t.runs.range}
            value={fixed ? "" : range}
            options={ranges.map((r) => ({ value: r, label: r }))}
            onChange={(next) => {
              const chosen = ranges.find((r) => r === next);
              set({ range: chosen === "24h" ? undefined : chosen, from: undefined, to: undefined });
            }}
          />
        </>
      }
      head={
        <div className="filters">
          <FilterField
            value={q ?? ""}
            placeholder={t.logs.filter}
            onChange={(text) => set({ q: text || undefined })}
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
            {tail && t.logs.tailHint(tailed)}
          </p>
          {fixed && (
            <Zoomed from={from} to={to} now={now} onLeave={() => set({ from: undefined, to: undefined })} />
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
              key={`${line.run_id}.${line.attempt}.${line.broadcast_index ?? ""}.${line.seq}`}
              line={line}
              words={words}
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

interface HitProps {
  line: LogLine;
  words: string[];
  /** The line above is of another run. */
  first: boolean;
  onJob(job: string): void;
}

const classes: Record<string, string> = { warn: " w", error: " e", debug: " d" };

const Hit = memo(function Hit({ line, words, first, onJob }: HitProps) {
  const t = useLogsT();
  const f = useFormat();
  const now = useNow();
  const ref = refOf(line.job);
  const text = plainText(line.text);
  return (
    <li className={first ? "first" : undefined}>
      {first && (
        <div className="hitrun">
          <GroupDot group={ref.group} />
          <Link to="/jobs/$group/$name" params={ref} className="name">
            {line.job}
          </Link>
          <Link to="/runs/$runId" params={{ runId: line.run_id }} className="mono mut">
            {shortId(line.run_id)}
          </Link>
          <span className="mut">{f.short(line.at, now)}</span>
          <Button small look="ghost" className="right" onClick={() => onJob(line.job)}>
            {t.logs.onlyJob}
          </Button>
        </div>
      )}
      <Link
        to="/runs/$runId"
        params={{ runId: line.run_id }}
        search={{ attempt: line.attempt, piece: line.broadcast_index }}
        hash={`L${line.seq}`}
        className={`ll${classes[line.level] ?? ""}`}
      >
        <span className="ln">{line.seq}</span>
        <span className="ts">{f.millis(line.at)}</span>
        <span className="lv" title={t.run.levels[line.level]} />
        <span className="m">
          {pieces(text.slice(0, drawn), words).map((p, i) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: a line's parts do not move
            p.found ? <mark key={i}>{p.text}</mark> : p.text,
          )}
          {text.length > drawn && <span className="mut">{t.run.truncated(text.length - drawn)}</span>}
        </span>
      </Link>
    </li>
  );
});
