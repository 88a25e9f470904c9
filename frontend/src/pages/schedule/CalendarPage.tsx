import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { calendarsQuery } from "@/api/cluster";
import { runCounts } from "@/api/runs";
import { firesPages } from "@/api/schedule";
import { JobTitle } from "@/components/JobTitle";
import { MonthCard } from "@/components/MonthCard";
import { Outcome } from "@/components/Outcome";
import { Failed } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { usePageWords, wallToInstant } from "@/lib/format";
import { addMonths, dateIn, daysLeft, hasDate, isMonth, monthOf } from "@/lib/month";
import { useNow } from "@/lib/now";
import { requestedByJob } from "@/lib/requested";
import { addDays, startOfDay } from "@/lib/timerange";
import { GroupFilter } from "@/shell/GroupFilter";
import { Page } from "@/shell/Page";
import { ScheduleTabs } from "./Tabs";

/** How many jobs a day names. */
const named = 3;
/** So many pages of jobs are read, of 500 each; beyond that it is said that there are more. */
const mostPages = 6;

const iso = (ms: number) => new Date(ms).toISOString();

/** A month of what fires once a day or more rarely, with the calendars that keep jobs from it. */
export default function CalendarPage() {
  const { t, f } = usePageWords();
  const navigate = useNavigate({ from: "/schedule/calendar" });
  const { month, group, all } = useSearch({ from: "/schedule/calendar" });
  const now = useNow();
  const calendars = useQuery(calendarsQuery).data?.items ?? [];
  const today = dateIn(f.zone, now);
  const shown = isMonth(month) ? month : today.slice(0, 7);
  const start = wallToInstant(`${shown}-01T00:00`, f.zone);
  const end = wallToInstant(`${addMonths(shown, 1)}-01T00:00`, f.zone);
  // A job that fires more often in these days is not daily, and would hide those that are.
  const daily = daysLeft(shown, today);
  const from = Math.max(start, Math.floor(now / 60_000) * 60_000);
  const past = useQuery({
    ...runCounts({ group, from: iso(start), to: iso(end) }, monthOf(shown).days.length, 30_000),
    enabled: start < now,
  });
  const plan = useInfiniteQuery({
    ...firesPages({ from: iso(from), to: iso(end - 1), group }, all ? 500 : daily + 1),
    enabled: end > now,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = plan;
  const pages = plan.data?.pages ?? [];
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && pages.length < mostPages) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, pages.length]);

  const planned = new Map<string, Map<string, number>>();
  const removed = new Map<string, number>();
  const add = (job: string, at: string) => {
    const date = dateIn(f.zone, at);
    const jobs = planned.get(date) ?? new Map<string, number>();
    planned.set(date, jobs.set(job, (jobs.get(job) ?? 0) + 1));
  };
  for (const { job, fires, excluded = [], more } of pages.flatMap((p) => p.items)) {
    if (!all && (more || fires.length + excluded.length > daily)) continue;
    for (const at of excluded) {
      const date = dateIn(f.zone, at);
      removed.set(date, (removed.get(date) ?? 0) + 1);
    }
    for (const at of fires) add(job, at);
  }
  const requested = pages[0]?.requested;
  for (const [job, times] of requestedByJob(requested)) for (const at of times) add(job, at);
  const byHour = new Map<string, number>();
  for (const { from, runs } of requested?.hours ?? []) {
    const date = dateIn(f.zone, from);
    byHour.set(date, (byHour.get(date) ?? 0) + runs);
  }
  const set = (change: { month?: string; group?: string; all?: "true" }) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  return (
    <Page
      crumbs={[{ text: t.plan.title, to: "/schedule" }, { text: t.plan.calendar }]}
      head={<ScheduleTabs on="calendar" />}
    >
      <div className="pad grid bigmonth">
        <div className="row g3 wrap">
          <GroupFilter group={group} onChange={(next) => set({ group: next })} />
          <Segments
            label={t.plan.which}
            value={all ? "all" : "daily"}
            options={[
              { value: "daily", label: t.plan.dailyOnly },
              { value: "all", label: t.plan.allJobs },
            ]}
            onChange={(next) => set({ all: next === "all" ? "true" : undefined })}
          />
          {hasNextPage && pages.length >= mostPages && <span className="c-warn">{t.plan.incomplete}</span>}
        </div>
        {(plan.isError && !plan.data) || (past.isError && !past.data) ? (
          <Failed
            error={plan.error ?? past.error}
            onRetry={() => void Promise.all([plan.refetch(), past.refetch()])}
          />
        ) : (
          <MonthCard
            month={shown}
            zone={f.zone}
            onMonth={(next) => set({ month: next })}
            day={(date, i) => {
              const jobs = [...(planned.get(date) ?? [])].sort(([a], [b]) => a.localeCompare(b));
              const fires = jobs.reduce((n, [, x]) => n + x, 0);
              const off = calendars
                .filter((c) => hasDate(c.definition, date))
                .map((c) => c.definition.calendar);
              const out = removed.get(date) ?? 0;
              const asked = byHour.get(date) ?? 0;
              const done = date <= today ? past.data?.items[i] : undefined;
              return (
                <Link
                  key={date}
                  to="/schedule"
                  search={{
                    group,
                    from: iso(startOfDay(date, f.zone)),
                    to: iso(startOfDay(addDays(date, 1), f.zone)),
                  }}
                  className={`mday link-day${date === today ? " today" : ""}${off.length > 0 ? " off" : ""}`}
                >
                  <span className="sr">{t.plan.dayLabel(f.in("UTC").day(date), fires)}</span>
                  <span className="row g1">
                    <span className="dn num">{i + 1}</span>
                    {off.length > 0 && (
                      <span className="cal trunc right" title={off.join(", ")}>
                        {off.join(", ")}
                      </span>
                    )}
                  </span>
                  <span className="names">
                    {jobs.slice(0, named).map(([job, n]) => (
                      <span key={job} className="trunc">
                        <JobTitle job={job} />
                        {n > 1 && <span className="mut num"> ×{n}</span>}
                      </span>
                    ))}
                    {asked > 0 && <span className="mut trunc">{t.plan.requestedRuns(asked)}</span>}
                  </span>
                  <span className="row g2 wrap">
                    {done && <Outcome counts={done} />}
                    {fires > 0 && <span className="plan num">{f.number(fires)}</span>}
                    {out > 0 && (
                      <span className="mut num right" title={t.plan.removed(out)}>
                        −{f.number(out)}
                        <span className="sr">{t.plan.removed(out)}</span>
                      </span>
                    )}
                  </span>
                </Link>
              );
            }}
          />
        )}
      </div>
    </Page>
  );
}
