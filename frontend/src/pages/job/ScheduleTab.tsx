import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarX, ChevronLeft, ChevronRight } from "lucide-react";
import { jobPreview, refOf } from "@/api/jobs";
import { runCounts } from "@/api/runs";
import type { JobItem, StatusCounts } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { Card, Empty } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { tags } from "@/i18n";
import { localZone, useWords, wallToInstant } from "@/lib/format";
import { useNow } from "@/lib/now";
import { failures } from "@/lib/status";

const listed = 100;

/** When a job fires: a month of past and future days, and the next hundred fires. */
export default function ScheduleTab({ item }: { item: JobItem }) {
  const { t, f } = useWords();
  const ref = refOf(item.definition.job);
  const zone = item.definition.schedule?.zone ?? "UTC";
  const zoned = f.in(zone);
  const { data } = useQuery(jobPreview(ref, listed));
  const fires = data?.fires ?? [];
  return (
    <div className="pad split-page">
      <Month item={item} zone={zone} />
      <Card title={t.job.nextFires(fires.length)} note={t.job.inZone(zone)}>
        {fires.length === 0 ? (
          <Empty title={t.job.noFires} hint={data?.note} />
        ) : (
          <ul className="fires tall b" tabIndex={0}>
            {fires.map((fire) => (
              <li key={fire.fire_time} className={fire.skipped ? "skipped" : undefined}>
                <span className="fday">{zoned.day(fire.fire_time)}</span>
                <span className="num">{zoned.time(fire.fire_time)}</span>
                {zone !== localZone && f.zone !== zone && (
                  <span className="mut num">{f.short(fire.fire_time, Date.now())}</span>
                )}
                <span className="right mut">
                  {fire.skipped ? (
                    <span className="tag" title={fire.reason}>
                      <CalendarX size={12} aria-hidden />
                      {t.job.skippedFire}
                    </span>
                  ) : fire.due !== fire.fire_time ? (
                    t.job.dueLater(zoned.time(fire.due))
                  ) : (
                    <Ago at={fire.due} />
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  );
}

interface Day {
  /** 2026-11-23 */
  date: string;
  n: number;
}

function Month({ item, zone }: { item: JobItem; zone: string }) {
  const { t, f } = useWords();
  const navigate = useNavigate();
  const now = useNow();
  const ref = refOf(item.definition.job);
  const { month } = useSearch({ strict: false });
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" })
    .format(now)
    .slice(0, 10);
  const shown = month && /^\d{4}-\d{2}$/.test(month) ? month : today.slice(0, 7);
  const [year = 0, number = 1] = shown.split("-").map(Number);
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const before = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const days: Day[] = Array.from({ length }, (_, i) => ({
    date: `${shown}-${String(i + 1).padStart(2, "0")}`,
    n: i + 1,
  }));
  const start = wallToInstant(`${shown}-01T00:00`, zone);
  const end = wallToInstant(`${move(shown, 1)}-01T00:00`, zone);
  const past = useQuery({
    ...runCounts({ job: [item.definition.job], from: iso(start), to: iso(end) }, length, 30_000),
    enabled: start < now,
  }).data;
  const from = Math.max(start, Math.floor(now / 60_000) * 60_000);
  const future = useQuery({ ...jobPreview(ref, 1000, iso(from)), enabled: end > now }).data;
  const planned = new Map<string, { fires: number; skipped: number }>();
  const dayOf = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
  for (const fire of future?.fires ?? []) {
    const day = dayOf.format(Date.parse(fire.fire_time)).slice(0, 10);
    const p = planned.get(day) ?? { fires: 0, skipped: 0 };
    planned.set(day, {
      fires: p.fires + (fire.skipped ? 0 : 1),
      skipped: p.skipped + (fire.skipped ? 1 : 0),
    });
  }
  const lastKnown =
    future && future.fires.length === 1000
      ? dayOf.format(Date.parse(future.fires.at(-1)?.fire_time ?? ""))
      : undefined;
  const go = (by: number) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...ref, tab: "schedule" },
      search: { month: move(shown, by) },
      replace: true,
    });
  const title = new Intl.DateTimeFormat(tags[f.lang], {
    year: "numeric",
    month: "long",
    timeZone: "UTC",
  }).format(Date.UTC(year, number - 1, 1));
  const weekdays = Array.from({ length: 7 }, (_, i) =>
    new Intl.DateTimeFormat(tags[f.lang], { weekday: "short", timeZone: "UTC" }).format(
      Date.UTC(2024, 0, 1 + i),
    ),
  );
  return (
    <Card
      title={title}
      note={zone}
      aside={
        <span className="row g1">
          <IconButton icon={ChevronLeft} label={t.job.month.prev} onClick={() => go(-1)} />
          <IconButton icon={ChevronRight} label={t.job.month.next} onClick={() => go(1)} />
        </span>
      }
    >
      <div className="month b">
        {weekdays.map((d) => (
          <span key={d} className="wd mut">
            {d}
          </span>
        ))}
        {Array.from({ length: before }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
          <span key={i} />
        ))}
        {days.map((d) => {
          const plan = planned.get(d.date);
          const done = d.date <= today ? past?.items[d.n - 1] : undefined;
          const isFuture = d.date > today;
          return (
            <div
              key={d.date}
              className={`mday${d.date === today ? " today" : ""}${isFuture ? " future" : ""}`}
            >
              <span className="dn num">{d.n}</span>
              {done && <Outcome counts={done} />}
              {plan && plan.fires > 0 && d.date >= today && (
                <span className="plan num">
                  {plan.fires}
                  {d.date === lastKnown?.slice(0, 10) && "+"}
                </span>
              )}
              {plan && plan.skipped > 0 && <s className="mut num">{plan.skipped}</s>}
            </div>
          );
        })}
      </div>
    </Card>
  );
}

function Outcome({ counts }: { counts: StatusCounts }) {
  const { t, f } = useWords();
  const bad = failures.reduce((n, s) => n + (counts[s] ?? 0), 0);
  const ok = counts.succeeded ?? 0;
  const rest = Object.values(counts).reduce((a, b) => a + b, 0) - bad - ok;
  if (bad + ok + rest === 0) return null;
  return (
    <span className="outcome num">
      {ok > 0 && (
        <span className="c-ok" title={t.status.succeeded}>
          {f.number(ok)}
        </span>
      )}
      {bad > 0 && (
        <span className="c-bad" title={t.status.failed}>
          {f.number(bad)}
        </span>
      )}
      {rest > 0 && (
        <span className="c-idle" title={t.overview.other}>
          {f.number(rest)}
        </span>
      )}
    </span>
  );
}

const iso = (ms: number) => new Date(ms).toISOString();

function move(month: string, by: number): string {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return iso(Date.UTC(year, number - 1 + by, 1)).slice(0, 7);
}
