import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { latestRuns } from "@/api/runs";
import type { Group } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Card } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { waitsSince } from "@/lib/status";

/** So many waiting runs are named. */
const named = 8;

/** The runs of a group that wait for an executor: how many, since when, and why. */
export function QueueCard({ group: g }: { group: Group }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const { say } = useSayer();
  const group = g.executor_group;
  const status = ["pending" as const];
  const n = g.waiting_runs ?? 0;
  const runs = useQuery({ ...latestRuns({ group, status }, named), enabled: n > 0 }).data?.items ?? [];
  return (
    <Card
      title={t.fleet.queue.title}
      note={n > named && t.fleet.queue.newest(named)}
      aside={
        n > 0 && (
          <Link to="/runs" search={{ group, status, range: "30d" }} className="link">
            {t.fleet.queue.all}
          </Link>
        )
      }
    >
      <p className={n > 0 ? "b c-warn" : "b sec"}>
        {g.waiting_runs === undefined
          ? t.fleet.queue.away
          : n === 0
            ? t.fleet.queue.none
            : t.fleet.queue.text(n, f.short(g.waiting_since ?? now, now))}
      </p>
      {n > 0 && (
        <ul className="list">
          {runs.map((run) => (
            <li key={run.run_id} className="li">
              <span className="two-lines grow">
                <Link to="/runs/$runId" params={{ runId: run.run_id }} className="name trunc">
                  <JobTitle job={run.job} keyed />
                </Link>
                <span className="sec trunc">{say(run.reason) || t.remedy.waitsQuietly}</span>
              </span>
              <span className="mut num">
                <Ago at={waitsSince(run)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
