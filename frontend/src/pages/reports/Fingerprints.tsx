import { Link, type LinkProps } from "@tanstack/react-router";
import { CircleCheck } from "lucide-react";
import type { Failure } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Card, Empty } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";

/** In which ways attempts failed, the most frequent first, each with its last run. */
export function Fingerprints({
  failures,
  ofOneJob,
  all,
}: {
  failures: Failure[];
  ofOneJob?: boolean;
  /** The way to the page of errors, which has all of them. */
  all: LinkProps["search"];
}) {
  const t = usePageT();
  const { say } = useSayer();
  const r = t.reports;
  const f = useFormat();
  return (
    <Card
      title={r.failures}
      note={<span className="hide-s">{r.failuresHint}</span>}
      aside={
        <Link to="/errors" search={all} className="link">
          {t.nav.errors}
        </Link>
      }
    >
      {failures.length === 0 ? (
        <Empty icon={CircleCheck} title={r.noFailures} />
      ) : (
        <ul className="list">
          {failures.map((x) => {
            const [only] = x.jobs;
            return (
              <li key={x.fingerprint} className="li">
                <span className="grow two-lines">
                  <Link
                    to="/runs/$runId"
                    params={{ runId: x.last_run_id }}
                    className="name mono trunc"
                    title={`${r.openLast}: ${say(x.message)}`}
                  >
                    {x.fingerprint || say(x.message)}
                  </Link>
                  <span className="mut trunc">
                    {!ofOneJob &&
                      (x.job_count === 1 && only ? (
                        <Link to="/jobs/$group/$name" params={refOf(only)} className="plain">
                          <JobTitle job={only} keyed />
                        </Link>
                      ) : (
                        <span title={x.jobs.join(", ")}>{r.inJobs(x.job_count)}</span>
                      ))}
                    {!ofOneJob && " · "}
                    {r.last} <Ago at={x.last} />
                  </span>
                </span>
                <b className="num" title={r.attempts(x.attempts)}>
                  {f.number(x.attempts)}
                </b>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}
