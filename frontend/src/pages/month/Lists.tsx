import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { MonthReport } from "@/api/schema.gen";
import { JobName } from "@/components/JobName";
import { Card, Empty } from "@/components/Panel";
import { type Head, Table } from "@/components/Table";
import { Verdict } from "@/components/Verdict";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";
import { successOf } from "./Figures";

interface Of {
  report: MonthReport;
}

/** A table of the report, or what it means that there is none. */
export function Listed({
  title,
  none,
  heads,
  rows,
}: {
  title: string;
  none: string;
  heads: Head[];
  rows: ReactNode[];
}) {
  return (
    <Card title={title}>
      {rows.length === 0 ? (
        <Empty title={none} />
      ) : (
        <Table heads={heads} compact>
          {rows}
        </Table>
      )}
    </Card>
  );
}

/** Whether jobs with a target met it, those that missed it first. */
export function Targets({ report }: Of) {
  const { t, f } = usePageWords();
  const m = t.month;
  return (
    <Listed
      title={m.targets}
      none={m.noTargets}
      heads={[t.reports.job, { right: m.success }, { right: m.before }, m.target, { right: m.left }]}
      rows={report.targets.map(({ job, total, before }) => (
        <tr key={job}>
          <td>
            <JobName {...refOf(job)} />
          </td>
          <td className="r num">{successOf(total)}</td>
          <td className="r num sec">{successOf(before)}</td>
          <td>
            <Verdict row={total} />
          </td>
          <td className="r num">{total.target?.success_rate ? f.number(total.target.error_budget) : "—"}</td>
        </tr>
      ))}
    />
  );
}

/** Why fires were skipped or missed. */
export function Reasons({ report }: Of) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const m = t.month;
  return (
    <Listed
      title={m.reasons}
      none={m.noReasons}
      heads={[m.reason, { right: m.fires }, { right: m.before }]}
      rows={report.reasons.map((r) => (
        <tr key={`${r.status} ${r.reason.text}`}>
          <td className="wraps">
            {t.status[r.status]}
            {r.reason.text && <span className="sec">: {say(r.reason)}</span>}
          </td>
          <td className="r num">{f.number(r.fires)}</td>
          <td className="r num sec">{f.number(r.before)}</td>
        </tr>
      ))}
    />
  );
}

/** In which ways attempts failed. */
export function Failures({ report }: Of) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const m = t.month;
  return (
    <Listed
      title={t.reports.failures}
      none={t.reports.noFailures}
      heads={[m.cause, { right: m.attempts }, { right: m.before }]}
      rows={report.failures.map(({ failure, before }) => (
        <tr key={failure.fingerprint}>
          <td className="wraps">
            <Link
              to="/runs/$runId"
              params={{ runId: failure.last_run_id }}
              className="mono"
              title={`${t.reports.openLast}: ${say(failure.message)}`}
            >
              {failure.fingerprint || say(failure.message)}
            </Link>{" "}
            <span className="mut">{t.reports.inJobs(failure.job_count)}</span>
          </td>
          <td className="r num">{f.number(failure.attempts)}</td>
          <td className="r num sec">{f.number(before)}</td>
        </tr>
      ))}
    />
  );
}

/** The jobs whose runs took longest. */
export function Slowest({ report }: Of) {
  const { t } = usePageWords();
  const took = (s: { count: number; p95_ms: number }) => (s.count > 0 ? formatDuration(s.p95_ms) : "—");
  return (
    <Listed
      title={t.reports.slowest}
      none={t.reports.nothing}
      heads={[t.reports.job, { right: t.reports.p95 }, { right: t.month.before }]}
      rows={report.slowest.map(({ job, total, before }) => (
        <tr key={job}>
          <td>
            <JobName {...refOf(job)} />
          </td>
          <td className="r num">{took(total.duration)}</td>
          <td className="r num sec">{took(before.duration)}</td>
        </tr>
      ))}
    />
  );
}
