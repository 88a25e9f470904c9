import { useQuery } from "@tanstack/react-query";
import { jobReport } from "@/api/reports";
import type { ReportRow, Run } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { formatDuration } from "@/lib/duration";
import { lastNoons, usePageWords } from "@/lib/format";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import { addTotals, lastDays, totalsOf } from "@/lib/ranges";
import { healthOf, quantile } from "@/lib/stats";
import { delayOf } from "@/lib/status";

const days = 30;

/** How a job did in the last thirty days, a cell for each; from its last runs while reports are away. */
export function Reliability({ job, runs }: { job: string; runs: Run[] }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const noons = lastNoons(now, days, f.zone);
  const range = {
    from: new Date(Math.min(...noons)).toISOString(),
    to: new Date(Math.max(...noons)).toISOString(),
  };
  const all = useQuery(jobReport(job, lastDays(now, days))).data?.items[0];
  const byDay = useQuery(jobReport(job, range, { step: "day", zone: f.zone })).data?.items;
  const h = healthOf(runs);
  // By the same days as the cells.
  const sum = byDay ? addTotals(byDay.map((row) => totalsOf(row.statuses))) : all && totalsOf(all.statuses);
  const ended = sum ? sum.ok + sum.bad : h.ended;
  const success = sum ? (ended === 0 ? undefined : sum.ok / ended) : h.success;
  if (success === undefined) return null;
  const p50 = all ? all.duration.p50_ms : h.p50;
  const p95 = all ? all.duration.p95_ms : h.p95;
  const delay = all
    ? all.started_after.count > 0
      ? all.started_after.p95_ms
      : undefined
    : quantile(
        runs.flatMap((r) => delayOf(r) ?? []),
        0.95,
      );
  return (
    <Card
      title={t.job.reliability}
      aside={<span className="mut">{sum ? t.job.lastDays(days, ended) : t.job.lastN(h.ended)}</span>}
    >
      <div className="b">
        <p className="kpi-v">{f.percent(success)}</p>
        {byDay && <Days noons={noons} rows={byDay} />}
        <dl className="dl">
          <dt>{t.job.p50p95}</dt>
          <dd className="num">
            {p50 === undefined || p95 === undefined ? "—" : `${formatDuration(p50)} / ${formatDuration(p95)}`}
          </dd>
          <dt>{t.job.delay}</dt>
          <dd className="num">{delay === undefined ? "—" : formatDuration(delay)}</dd>
          {sum && (
            <>
              <dt>{t.job.absent}</dt>
              <dd className="num">{f.number(sum.absent)}</dd>
            </>
          )}
        </dl>
      </div>
    </Card>
  );
}

/** A cell for each day, from the oldest on: all went well, some failed, or most. */
function Days({ noons, rows }: { noons: number[]; rows: ReportRow[] }) {
  const { t, f } = usePageWords();
  const known = new Map(rows.map((row) => [dateIn(f.zone, row.at ?? 0), row]));
  const cells = noons.map((at) => {
    const row = known.get(dateIn(f.zone, at));
    const { ok, bad } = row ? totalsOf(row.statuses) : { ok: 0, bad: 0 };
    const look = ok + bad === 0 ? "b-idle" : bad === 0 ? "b-ok" : bad < ok ? "b-warn" : "b-bad";
    return { at, look, bad, text: t.job.dayOf(f.day(at), ok + bad, bad) };
  });
  return (
    <div
      className="cells"
      role="img"
      aria-label={t.job.daysLabel(days, cells.filter((c) => c.bad > 0).length)}
    >
      {cells.map((c) => (
        <i key={c.at} className={c.look} title={c.text} />
      ))}
    </div>
  );
}
