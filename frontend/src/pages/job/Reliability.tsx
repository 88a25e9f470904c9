import { useQuery } from "@tanstack/react-query";
import { jobReport } from "@/api/reports";
import type { ReportRow, Run } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Verdict } from "@/components/Verdict";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { lastNoons, usePageWords } from "@/lib/format";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import { lastDays, totalsOf } from "@/lib/ranges";
import { healthOf, quantile } from "@/lib/stats";
import { delayOf } from "@/lib/status";
import { judgedOf, lateBy } from "@/lib/target";

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
  const all = useQuery(jobReport(job, lastDays(now, days), { by: ["job"] })).data?.items[0];
  const byDay = useQuery(jobReport(job, range, { step: "day", zone: f.zone })).data?.items;
  const h = healthOf(runs);
  const judged = all && judgedOf(all);
  const ended = judged ? judged.ok + judged.bad : h.ended;
  const success = all ? all.success_rate : h.success;
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
      aside={
        <span className="mut">
          {judged ? t.job.lastDays(days, ended, (all?.scheduled ?? 0) > 0) : t.job.lastN(h.ended)}
        </span>
      }
    >
      <div className="b">
        <p className="kpi-v">{f.percent(success)}</p>
        {byDay && <Days noons={noons} rows={byDay} scheduled={all !== undefined && all.scheduled > 0} />}
        <dl className="dl">
          {all?.target && <Target row={all} target={all.target} />}
          <dt>{t.job.p50p95}</dt>
          <dd className="num">
            {p50 === undefined || p95 === undefined ? "—" : `${formatDuration(p50)} / ${formatDuration(p95)}`}
          </dd>
          <dt>{t.job.delay}</dt>
          <dd className="num">
            <span className={all && lateBy(all) > 0 ? "c-bad" : undefined}>
              {delay === undefined ? "—" : formatDuration(delay)}
            </span>
            {all?.target?.start_delay && (
              <span className="mut"> · {t.job.delayTarget(all.target.start_delay)}</span>
            )}
          </dd>
          {all && (
            <>
              <dt>{t.job.absent}</dt>
              <dd className="num">{f.number(totalsOf(all.statuses).absent)}</dd>
            </>
          )}
        </dl>
      </div>
    </Card>
  );
}

/** The target of a job, whether it is met, and how many more runs may fail. */
function Target({ row, target }: { row: ReportRow; target: NonNullable<ReportRow["target"]> }) {
  const t = usePageT();
  const left = target.error_budget;
  return (
    <>
      <dt>{t.job.target}</dt>
      <dd>
        <span className="row g2 end wrap">
          {target.success_rate !== undefined && <span className="num">{target.success_rate}%</span>}
          <Verdict row={row} />
        </span>
      </dd>
      {target.success_rate !== undefined && (
        <>
          <dt>{t.job.budget}</dt>
          <dd className="num">{t.job.budgetLeft(Math.max(0, left), left + judgedOf(row).bad)}</dd>
        </>
      )}
    </>
  );
}

/** A cell for each day, from the oldest on: all went well, some failed, or most. */
function Days({ noons, rows, scheduled }: { noons: number[]; rows: ReportRow[]; scheduled: boolean }) {
  const { t, f } = usePageWords();
  const known = new Map(rows.map((row) => [dateIn(f.zone, row.at ?? 0), row]));
  const cells = noons.map((at) => {
    const row = known.get(dateIn(f.zone, at));
    const { ok, bad } = row ? judgedOf(row, scheduled) : { ok: 0, bad: 0 };
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
