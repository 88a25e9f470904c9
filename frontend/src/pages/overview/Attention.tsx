import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, CloudOff, ServerOff, Split, TriangleAlert } from "lucide-react";
import { groupsQuery, nodesQuery } from "@/api/cluster";
import { jobCount, jobList, refOf } from "@/api/jobs";
import { Card, Empty, Skeleton } from "@/components/Panel";
import { resultOf } from "@/components/RunTable";
import { statusIcons } from "@/components/Status";
import { Age } from "@/components/Time";
import { useT } from "@/i18n";
import { healthOf } from "@/lib/stats";
import { failures, tones } from "@/lib/status";

const most = 6;
const strip = 30;
/** Of so many failing jobs those that fail longest are shown. */
const looked = 50;

/** What needs somebody: shards without an owner, groups without an executor, jobs that fail. The gravest comes first. */
export function Attention() {
  const t = useT();
  const list = useInfiniteQuery(jobList({ last: failures }, looked));
  const failing = list.data?.pages[0]?.items ?? [];
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const unowned = useQuery(nodesQuery).data?.unowned.length ?? 0;
  const total = useQuery(jobCount({ last: failures })).data ?? 0;
  const empty = groups.filter((g) => g.state === "empty");
  const jobs = failing
    .map((item) => ({ item, streak: healthOf(item.last_runs ?? []).streak }))
    .sort((a, b) => b.streak - a.streak);
  const count = total + empty.length + (unowned > 0 ? 1 : 0);
  const room = most - (unowned > 0 ? 1 : 0);
  return (
    <Card
      title={t.overview.attention}
      note={count > 0 && <span className="tag num">{count}</span>}
      aside={
        total > 0 && (
          <Link to="/jobs" search={{ view: "failing" }} className="link">
            {t.overview.allRunning}
          </Link>
        )
      }
    >
      {list.isError && !list.data && <Empty icon={CloudOff} title={t.jobs.historyAway} />}
      {count === 0 && list.isPending ? (
        <Skeleton rows={4} />
      ) : count === 0 && list.data ? (
        <Empty icon={CircleCheck} title={t.overview.calm} hint={t.overview.calmHint} />
      ) : (
        <div className="list">
          {unowned > 0 && (
            <Link to="/cluster" className="li">
              <span className="ico c-bad soft-bad">
                <Split size={15} aria-hidden />
              </span>
              <span className="grow two-lines">
                <b>{t.nav.cluster}</b>
                <span className="sec trunc">{t.overview.unowned(unowned)}</span>
              </span>
            </Link>
          )}
          {jobs.slice(0, Math.max(1, room - Math.min(2, empty.length))).map(({ item, streak }) => {
            const last = item.last_runs?.[0];
            if (!last) return null;
            const Icon = last.status === "failed" ? TriangleAlert : statusIcons[last.status];
            const tone = tones[last.status];
            return (
              <Link key={last.job} to="/runs/$runId" params={{ runId: last.run_id }} className="li">
                <span className={`ico c-${tone} soft-${tone}`}>
                  <Icon size={15} aria-hidden />
                </span>
                <span className="grow two-lines">
                  <span className="row g2">
                    <b className="trunc">{refOf(last.job).name}</b>
                    <span className="right mut num">
                      <Age at={last.fire_time} />
                    </span>
                  </span>
                  <span className="sec trunc">
                    {streak >= strip ? t.overview.manyFailures(streak) : t.overview.failures(streak)}
                    {resultOf(last) && ` · ${resultOf(last)}`}
                  </span>
                </span>
              </Link>
            );
          })}
          {empty.slice(0, 2).map((g) => (
            <Link key={g.executor_group} to="/executors" search={{ q: g.executor_group }} className="li">
              <span className="ico c-lost soft-lost">
                <ServerOff size={15} aria-hidden />
              </span>
              <span className="grow two-lines">
                <b className="trunc">{g.executor_group}</b>
                <span className="sec trunc">{t.overview.noExecutor}</span>
              </span>
            </Link>
          ))}
        </div>
      )}
    </Card>
  );
}
