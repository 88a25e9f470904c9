import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarX, SkipForward } from "lucide-react";
import { jobPreview } from "@/api/jobs";
import { runCounts } from "@/api/runs";
import type { JobItem, RequestedRuns } from "@/api/schema.gen";
import { ClockNote } from "@/components/ClockNote";
import { MonthCard } from "@/components/MonthCard";
import { Outcome } from "@/components/Outcome";
import { Card, Empty } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { isSameClock, offsetName, relative, usePageWords, wallToInstant } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { addMonths, dateIn, isMonth, monthOf } from "@/lib/month";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { requestedTotal } from "@/lib/requested";
import { calendarOf } from "@/lib/skipped";
import { zoneOf } from "@/lib/words";
import { useHeld } from "@/shell/useHeld";
import { FireMenu } from "./FireMenu";
import { ScheduleChanges } from "./ScheduleChanges";

const listed = 100;
/** The most fires that the server foresees at once. */
const most = 1000;

/** When a job fires: a month of past and future days, and the next hundred fires. */
export default function ScheduleTab({ item }: { item: JobItem }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const ref = refOf(item.definition.job);
  const zone = zoneOf(item.definition.schedule);
  const zoned = f.in(zone);
  const { data } = useQuery(jobPreview(ref, listed));
  const fires = data?.fires ?? [];
  const now = useNow();
  const held = useHeld();
  // Where the viewer's clock shows another time, that stands beside the job's.
  const elsewhere = !isSameClock(zone, f.zone, now);
  return (
    <div className="pad split-page">
      <div className="grid">
        <Month item={item} zone={zone} />
        {data?.requested && <RequestedCard requested={data.requested} zone={zone} />}
        <ScheduleChanges item={item} />
      </div>
      <Card title={t.job.nextFires(fires.length)} note={t.job.inZone(zone)}>
        {fires.length === 0 ? (
          <Empty title={t.job.noFires} hint={say(data?.note)} />
        ) : (
          <ul className="fires tall b" tabIndex={0}>
            {fires.map((fire) => (
              <li key={fire.fire_time} className={fire.skipped || held(fire.due) ? "skipped" : undefined}>
                <span className="fday">{zoned.day(fire.fire_time)}</span>
                <span className="num">{zoned.time(fire.fire_time)}</span>
                <span className="right mut trunc">
                  {fire.skipped ? (
                    <span className="tag" title={say(fire.reason)}>
                      {fire.skip ? (
                        <SkipForward size={12} aria-hidden />
                      ) : (
                        <CalendarX size={12} aria-hidden />
                      )}
                      <span className="trunc">
                        {fire.skip?.run_id ? t.fire.ranEarly : (calendarOf(fire.reason) ?? t.job.skippedFire)}
                      </span>
                    </span>
                  ) : held(fire.due) ? (
                    <span title={t.pause.wouldSkipHint}>{t.pause.wouldSkip}</span>
                  ) : fire.due !== fire.fire_time ? (
                    t.job.dueLater(zoned.time(fire.due))
                  ) : elsewhere ? (
                    <time
                      className="num"
                      dateTime={fire.fire_time}
                      title={`${f.zone}, ${relative(fire.due, now, t)}`}
                    >
                      {f.short(fire.fire_time, now)} {offsetName(f.zone, Date.parse(fire.fire_time))}
                    </time>
                  ) : (
                    <Ago at={fire.due} />
                  )}
                </span>
                <FireMenu job={item.definition} fire={fire} />
                {fire.clock && (
                  <p className="firenote">
                    <ClockNote clock={fire.clock} at={zoned.minute(fire.fire_time)} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
}

/** The runs of a job that were requested for a later time: each, or the number in each hour. */
function RequestedCard({ requested, zone }: { requested: RequestedRuns; zone: string }) {
  const { t, f } = usePageWords();
  const zoned = f.in(zone);
  const total = requestedTotal(requested);
  if (total === 0) return null;
  return (
    <Card title={t.job.requestedRuns(total)} note={t.job.inZone(zone)}>
      <ul className="fires tall b" tabIndex={0}>
        {requested.runs.map((run) => (
          <li key={run.run_id}>
            <span className="fday">{zoned.day(run.fire_time)}</span>
            <span className="num">{zoned.time(run.fire_time)}</span>
            <span className="right mut trunc">
              <Link to="/runs/$runId" params={{ runId: run.run_id }} className="link">
                <Ago at={run.fire_time} />
              </Link>
            </span>
          </li>
        ))}
        {requested.hours?.map((hour) => (
          <li key={hour.from}>
            <span className="fday">{zoned.day(hour.from)}</span>
            <span className="num">{zoned.minute(hour.from)}</span>
            <span className="right mut trunc">{t.job.requestedIn(hour.runs)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Month({ item, zone }: { item: JobItem; zone: string }) {
  const navigate = useNavigate();
  const now = useNow();
  const ref = refOf(item.definition.job);
  const { month } = useSearch({ strict: false });
  const today = dateIn(zone, now);
  const shown = isMonth(month) ? month : today.slice(0, 7);
  const start = wallToInstant(`${shown}-01T00:00`, zone);
  const end = wallToInstant(`${addMonths(shown, 1)}-01T00:00`, zone);
  const past = useQuery({
    ...runCounts(
      { job: [item.definition.job], from: iso(start), to: iso(end) },
      monthOf(shown).days.length,
      30_000,
    ),
    enabled: start < now,
  }).data;
  const from = Math.max(start, Math.floor(now / 60_000) * 60_000);
  const future = useQuery({ ...jobPreview(ref, most, iso(from)), enabled: end > now }).data;
  const planned = new Map<string, { fires: number; skipped: number }>();
  for (const fire of future?.fires ?? []) {
    const day = dateIn(zone, fire.fire_time);
    const p = planned.get(day) ?? { fires: 0, skipped: 0 };
    planned.set(day, {
      fires: p.fires + (fire.skipped ? 0 : 1),
      skipped: p.skipped + (fire.skipped ? 1 : 0),
    });
  }
  const add = (at: string, runs: number) => {
    const day = dateIn(zone, at);
    const p = planned.get(day) ?? { fires: 0, skipped: 0 };
    planned.set(day, { ...p, fires: p.fires + runs });
  };
  for (const run of future?.requested?.runs ?? []) add(run.fire_time, 1);
  for (const hour of future?.requested?.hours ?? []) add(hour.from, hour.runs);
  const last = future?.fires.length === most ? future.fires.at(-1) : undefined;
  const lastKnown = last && dateIn(zone, last.fire_time);
  return (
    <MonthCard
      month={shown}
      zone={zone}
      onMonth={(next) =>
        void navigate({
          to: "/jobs/$group/$name/$tab",
          params: { ...ref, tab: "schedule" },
          search: { month: next },
          replace: true,
        })
      }
      day={(date, i) => {
        const plan = planned.get(date);
        const done = date <= today ? past?.items[i] : undefined;
        return (
          <div key={date} className={`mday${date === today ? " today" : ""}${date > today ? " future" : ""}`}>
            <span className="dn num">{i + 1}</span>
            {done && <Outcome counts={done} />}
            {plan && plan.fires > 0 && date >= today && (
              <span className="plan num">
                {plan.fires}
                {date === lastKnown && "+"}
              </span>
            )}
            {plan && plan.skipped > 0 && <s className="mut num">{plan.skipped}</s>}
          </div>
        );
      }}
    />
  );
}

const iso = (ms: number) => new Date(ms).toISOString();
