import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowRight } from "lucide-react";
import { firesQuery } from "@/api/schedule";
import { JobTitle } from "@/components/JobTitle";
import { Card, Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { parseDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { minutesOf } from "@/lib/load";
import { requestedByJob } from "@/lib/requested";

const quarter = 900_000;
/** So many jobs are named; of the others there is the number. */
const named = 8;

interface DriversProps {
  from: number;
  group: string | undefined;
  /** Only jobs whose fires are at least so far apart. */
  apart: string | undefined;
  title: string;
  /** What takes the most slots comes first, else what fires most. */
  bySlots: boolean;
}

/** The jobs that fire within a quarter of an hour. */
export function Drivers({ from, group, apart, title, bySlots }: DriversProps) {
  const { t, f } = usePageWords();
  const iso = (ms: number) => new Date(ms).toISOString();
  const { data } = useQuery(
    firesQuery({ from: iso(from - 1), to: iso(from + quarter - 1), group }, 500, `cell ${from}`),
  );
  const least = parseDuration(apart ?? "0s") ?? 0;
  const scheduled = (data?.items ?? []).filter(
    ({ fires: [a, b] }) => !a || !b || Date.parse(b) - Date.parse(a) >= least,
  );
  const requested = requestedByJob(data?.requested);
  const others = [...requested.keys()].filter((job) => !scheduled.some((j) => j.job === job));
  const jobs = [...scheduled, ...others.map((job) => ({ job, fires: [], more: false, usual_ms: undefined }))]
    .map((j) => ({ ...j, runs: requested.get(j.job)?.length ?? 0 }))
    .map((j) => ({ ...j, slotMs: j.usual_ms && j.usual_ms * j.fires.length }))
    .sort(
      (a, b) =>
        (bySlots ? (b.slotMs ?? 0) - (a.slotMs ?? 0) : b.fires.length + b.runs - a.fires.length - a.runs) ||
        a.job.localeCompare(b.job),
    );
  return (
    <Card title={title}>
      {jobs.length === 0 ? (
        data && <Empty title={t.plan.none} />
      ) : (
        <>
          <Table
            heads={[
              t.joblist.columns.job,
              t.jobs.group,
              { right: t.plan.fires },
              { right: t.plan.slotMinutes },
            ]}
            actions={t.joblist.columns.job}
            compact
          >
            {jobs.slice(0, named).map(({ job, fires, more, runs, slotMs }) => (
              <tr key={job}>
                <td className="short">
                  <Link to="/jobs/$group/$name" params={refOf(job)} className="name" title={job}>
                    <JobTitle job={job} />
                  </Link>
                </td>
                <td className="sec why">{refOf(job).group}</td>
                <td className="r num">
                  {f.number(fires.length)}
                  {more && "+"}
                  {runs > 0 && <span className="mut"> · {t.plan.requestedRuns(runs)}</span>}
                </td>
                <td className="r num">{slotMs ? minutesOf(slotMs, f.number) : "—"}</td>
                <td className="r">
                  <Link
                    to="/jobs/$group/$name/$tab"
                    params={{ ...refOf(job), tab: "schedule" }}
                    className="ic"
                    aria-label={t.plan.openSchedule(job)}
                  >
                    <ArrowRight size={14} aria-hidden />
                  </Link>
                </td>
              </tr>
            ))}
          </Table>
          {jobs.length > named && <p className="b mut">{t.plan.moreJobs(jobs.length - named)}</p>}
        </>
      )}
    </Card>
  );
}
