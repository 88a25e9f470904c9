import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock, ChevronLeft, ChevronRight, History } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { jobMarks } from "@/api/jobs";
import { latestRuns } from "@/api/runs";
import { firesQuery } from "@/api/schedule";
import { Button, IconButton } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { Legend } from "@/components/Legend";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Waiting } from "@/components/Waiting";
import { parseDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import {
  closeSections,
  groupings,
  groupLanes,
  instanceLanes,
  jobLanes,
  type Order,
  orderLanes,
  orders,
  paceOf,
  sectionLanes,
} from "@/lib/timeline";
import {
  addDays,
  isLength,
  type Length,
  type RangeName,
  spans,
  startOfDay,
  type WholeRange,
} from "@/lib/timerange";
import { paces } from "@/router";
import { FireDialog } from "@/shell/FireDialog";
import { GroupFilter } from "@/shell/GroupFilter";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";
import { ScheduleTabs } from "./Tabs";
import { Timeline } from "./Timeline";
import "./timeline.css";

const ManyDialog = lazy(() => import("@/pages/backfill/ManyDialog"));

const zooms = ["1h", "6h", "24h", "7d"] as const satisfies Length[];
const usual = "1h";
const offers: RangeName[] = [...zooms, "today", "yesterday", "week", "last-week"];
/** A week, with room for clocks that are set back in it. */
const longest = 7 * spans["24h"] + spans["1h"];
/** Where now is in a view that follows it: past and future are both worth seeing. */
const nowAt = 0.55;
const mostRuns = 1000;

/** What ran and what will fire, job by job, on one axis. */
export default function TimelinePage() {
  const { t, f } = usePageWords();
  const now = useNow();
  const navigate = useNavigate({ from: "/schedule" });
  const search = useSearch({ from: "/schedule" });
  const { lanes: by = "job", group, q, sort = "name", slower, closed = [] } = search;
  const ranged = useRange(search, { usual, offers, longest });
  const may = useMay();
  const [fire, setFire] = useState<{ job: string; fireTime: string }>();
  const [filling, setFilling] = useState<string>();
  const { range } = ranged;
  // A length follows now, with the future beside the past; a range of days stays where it is.
  const follows = isLength(range.name);
  const length = range.to - range.from;
  // The queries move on in steps, so that they are not new ones each second.
  const step = length / 120;
  const from = follows ? now - length * nowAt : range.from;
  const to = from + length;
  const day = !follows && from < now ? wholeDay(from, to, f.zone) : undefined;
  const steady = Math.floor(from / step) * step;
  const iso = (ms: number) => new Date(ms).toISOString();

  const past = useQuery({
    ...latestRuns({ group, from: iso(steady - length * 0.1), to: iso(steady + length + step) }, mostRuns),
    enabled: from < now,
  });
  const plan = useQuery({
    ...firesQuery(
      { from: iso(Math.max(now, steady)), to: iso(Math.max(now, steady) + length), group, q },
      200,
      `line ${length} ${steady}`,
    ),
    enabled: to > now,
  });
  const marked = by === "owner" || by === "tag";
  const marks = useQuery({ ...jobMarks(by === "tag" ? "tag" : "owner", { group }), enabled: marked });
  const look = q?.toLowerCase() ?? "";
  const ran = from < now ? (past.data?.items ?? []).filter((r) => r.job.includes(look)) : [];
  const planned = to > now ? (plan.data?.items ?? []) : [];
  const all = by === "instance" ? instanceLanes(ran, planned, t.overview.scheduled) : jobLanes(ran, planned);
  const slow = slower === undefined ? 0 : (parseDuration(slower) ?? 0);
  const paced = all.filter((lane) => slow === 0 || (paceOf(lane) ?? slow) >= slow);
  const below =
    by === "group"
      ? groupLanes(paced)
      : marked && marks.data
        ? sectionLanes(paced, (job) => marks.data.marks.get(job))
        : paced;
  const lanes = closeSections(orderLanes(below, sort, now), closed, t.plan.allOfGroup);

  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const toggle = (section: string) => {
    const next = closed.includes(section) ? closed.filter((c) => c !== section) : [...closed, section];
    set({ closed: next.length > 0 ? next : undefined });
  };
  const show = (next: WholeRange) => set(next);
  const follow = (name: Length) =>
    show({ range: name === usual ? undefined : name, from: undefined, to: undefined, zone: undefined });
  const stay = (at: number, long: number) =>
    show({ range: undefined, from: iso(at), to: iso(at + long), zone: search.zone });
  const pan = (by: number) => stay(from + length * by, length);
  // The first that is as long as what is shown, or longer.
  const zoomed = zooms.findIndex((z) => spans[z] >= length);
  const zoom = (by: number) => {
    const next = zooms[(zoomed < 0 ? zooms.length : zoomed) + by];
    if (next === undefined) return;
    if (follows) follow(next);
    else stay(from + (length - spans[next]) / 2, spans[next]);
  };
  const toNow = () => follow(zooms[zoomed] ?? usual);
  useKeys({
    arrowleft: () => pan(-0.25),
    arrowright: () => pan(0.25),
    "+": () => zoom(-1),
    "-": () => zoom(1),
    "0": toNow,
  });
  return (
    <Page
      fixed
      crumbs={[{ text: t.plan.title }]}
      actions={
        <Legend
          marks={[
            ["b-ok", t.status.succeeded],
            ["b-bad", t.status.failed],
            ["b-run", t.status.running],
            ["hollow", t.overview.scheduled],
          ]}
        />
      }
      head={
        <>
          <ScheduleTabs on="timeline" />
          <div className="filters">
            <FilterField
              value={q ?? ""}
              placeholder={t.plan.filter}
              onChange={(text) => set({ q: text || undefined })}
            />
            <GroupFilter group={group} onChange={(next) => set({ group: next })} />
            <Segments
              label={t.plan.lanes}
              value={by}
              options={groupings.map((g) => ({ value: g, label: t.plan.lanesOf[g] }))}
              onChange={(next) => set({ lanes: next === "job" ? undefined : next, closed: undefined })}
            />
            <FilterChip
              name={t.plan.sort}
              options={orders.map((o) => ({ value: o, label: t.plan.sorts[o] }))}
              chosen={sort === "name" ? [] : [sort]}
              onChange={([next]: Order[]) => set({ sort: next === "name" ? undefined : next })}
            />
            <FilterChip
              name={t.plan.slower}
              options={paces.map((p) => ({ value: p, label: p }))}
              chosen={slower ? [slower] : []}
              onChange={([next]) => set({ slower: next })}
            />
            <span className="right row g2">
              {day && may("operate") && (
                <Button small icon={History} onClick={() => setFilling(day)}>
                  {t.bulkBackfill.actDay}
                </Button>
              )}
              <IconButton icon={ChevronLeft} label={t.plan.earlier} keys="←" onClick={() => pan(-0.5)} />
              <Button small disabled={follows} onClick={toNow}>
                {t.plan.now}
              </Button>
              <IconButton icon={ChevronRight} label={t.plan.later} keys="→" onClick={() => pan(0.5)} />
              <RangePicker of={ranged} onChange={show} />
            </span>
          </div>
          <RangeNote of={ranged} />
        </>
      }
    >
      {marked && !marks.data ? (
        <Waiting on={marks} rows={14} />
      ) : (past.isError || plan.isError) && lanes.length === 0 ? (
        <Failed
          error={past.error ?? plan.error}
          onRetry={() => void Promise.all([past.refetch(), plan.refetch()])}
        />
      ) : lanes.length === 0 ? (
        past.isLoading || plan.isLoading ? (
          <Skeleton rows={14} />
        ) : (
          <Empty icon={CalendarClock} title={t.plan.none} hint={t.plan.noneHint} />
        )
      ) : (
        <>
          {(plan.data?.next || past.data?.items.length === mostRuns || (marked && marks.data?.isPart)) && (
            <p className="note info flat">{t.plan.truncated}</p>
          )}
          <Timeline
            lanes={lanes}
            counted={paced}
            sections={marked ? by : "group"}
            from={from}
            to={to}
            now={now}
            closed={closed}
            onSection={toggle}
            onPan={(ms) => stay(from + ms, length)}
            onZoom={zoom}
            onFire={(job, fireTime) => may("operate", refOf(job).group) && setFire({ job, fireTime })}
          />
        </>
      )}
      {filling && (
        <Suspense>
          <ManyDialog filter={{ group, q }} day={filling} onClose={() => setFilling(undefined)} />
        </Suspense>
      )}
      {fire && <FireDialog {...fire} onClose={() => setFire(undefined)} />}
    </Page>
  );
}

/** The date that a range is; undefined if it is more or less than one day. */
function wholeDay(from: number, to: number, zone: string): string | undefined {
  const date = dateIn(zone, from);
  return startOfDay(date, zone) === from && startOfDay(addDays(date, 1), zone) === to ? date : undefined;
}
