import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight } from "lucide-react";
import { namedJobs } from "@/api/jobs";
import { overviewQueries } from "@/api/overview";
import { JobName } from "@/components/JobName";
import { Card, Empty } from "@/components/Panel";
import { Status } from "@/components/Status";
import { Table } from "@/components/Table";
import { useT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { shortId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { healthOf } from "@/lib/stats";
import { durationOf, living } from "@/lib/status";
import type { Scoped } from "@/shell/useScope";
import { useInFlight } from "./inflight";

const shown = 5;

/** The runs in flight, each against how long its job usually takes. */
export function RunningNow({ of: { range, firstDay, scope } }: { of: Scoped }) {
  const t = useT();
  const { say } = useSayer();
  const now = useNow();
  const alive = useQuery(overviewQueries(range, { now, firstDay }, scope).reports).data?.alive;
  const { runs, running, waiting, queued } = useInFlight(alive, scope);
  const first = [...runs]
    .sort(
      (a, b) =>
        Number(b.status === "running") - Number(a.status === "running") ||
        a.fire_time.localeCompare(b.fire_time),
    )
    .slice(0, shown);
  const names = first.map((r) => r.job);
  const jobs = useQuery(namedJobs(names, 30)).data;
  const usual = names.map((name) =>
    healthOf((jobs?.get(name)?.last_runs ?? []).filter((r) => r.status === "succeeded")),
  );
  return (
    <Card
      title={t.overview.runningNow}
      note={runs.length > 0 && <span className="tag num">{running + waiting + queued}</span>}
      aside={
        <Link to="/runs" search={{ ...scope, status: living }} className="link">
          {t.overview.allRunning}
        </Link>
      }
    >
      {first.length === 0 ? (
        <Empty title={t.overview.nothingRuns} />
      ) : (
        <Table
          heads={[t.runs.columns.job, t.runs.columns.run, t.runs.columns.executor, t.overview.elapsed]}
          actions={t.act.more}
          className="inflight"
          compact
        >
          {first.map((r, i) => {
            const elapsed = durationOf(r, now);
            const { p50, p95 } = usual[i] ?? {};
            const share = r.percent ?? (elapsed && p50 ? Math.min(100, (elapsed / p50) * 100) : undefined);
            const over = elapsed !== undefined && p95 !== undefined && elapsed > p95;
            return (
              <tr key={`${r.run_id}.${r.attempt}`}>
                <td>
                  <span className="row g2">
                    <Status status={r.status} bare />
                    <JobName {...refOf(r.job)} />
                  </span>
                </td>
                <td className="mono sec">{shortId(r.run_id)}</td>
                <td className="sec why" title={r.instance}>
                  {r.instance ?? "—"}
                </td>
                <td className="wide">
                  <span className="row g2">
                    {elapsed === undefined ? (
                      <span className="mut trunc" title={say(r.reason)}>
                        {say(r.reason)}
                      </span>
                    ) : share === undefined ? (
                      <span className="mut">{t.overview.noUsual}</span>
                    ) : (
                      <span className="bar elapsed">
                        <i className={over ? "b-warn" : "b-run"} style={{ width: `${share}%` }} />
                      </span>
                    )}
                    <span className="num right">
                      <span className={over ? "c-warn" : undefined}>
                        {elapsed === undefined
                          ? t.status[r.status]
                          : formatDuration(Math.floor(elapsed / 1000) * 1000)}
                      </span>
                      {elapsed !== undefined && p50 !== undefined && (
                        <span className="mut"> / {formatDuration(p50)}</span>
                      )}
                    </span>
                  </span>
                </td>
                <td className="r">
                  <Link
                    to="/runs/$runId"
                    params={{ runId: r.run_id }}
                    className="ic"
                    aria-label={`${t.act.openRun} ${shortId(r.run_id)}`}
                  >
                    <ArrowRight size={15} aria-hidden />
                  </Link>
                </td>
              </tr>
            );
          })}
        </Table>
      )}
    </Card>
  );
}
