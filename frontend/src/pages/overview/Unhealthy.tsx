import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { jobList, refOf } from "@/api/jobs";
import { Card } from "@/components/Panel";
import { RunStrip } from "@/components/RunStrip";
import { Status } from "@/components/Status";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { healthOf } from "@/lib/stats";

const shown = 4;

/** The jobs with the lowest share of success among those first listed and those failing now. */
export function Unhealthy({ title }: { title: string }) {
  const { t, f } = useWords();
  const failing =
    useInfiniteQuery(jobList({ last: ["failed", "timed_out", "lost"] })).data?.pages[0]?.items ?? [];
  const some = useInfiniteQuery(jobList({})).data?.pages[0]?.items ?? [];
  const all = new Map([...some, ...failing].map((item) => [item.definition.job, item]));
  const worst = [...all.values()]
    .map((item) => ({ item, health: healthOf(item.last_runs ?? []) }))
    .filter((x) => x.health.success !== undefined && x.health.success < 1)
    .sort((a, b) => (a.health.success ?? 1) - (b.health.success ?? 1))
    .slice(0, shown);
  if (worst.length === 0) return null;
  return (
    <Card title={title} note={t.overview.lastRuns}>
      <div className="sideways">
        <table className="tbl c">
          <tbody>
            {worst.map(({ item, health }) => {
              const ref = refOf(item.definition.job);
              const last = item.last_runs?.[0];
              return (
                <tr key={item.definition.job}>
                  <td>
                    <Link to="/jobs/$group/$name" params={ref} className="name">
                      {ref.name}
                    </Link>
                  </td>
                  <td>
                    <span className="tag">{ref.group}</span>
                  </td>
                  <td>
                    <RunStrip runs={item.last_runs ?? []} />
                  </td>
                  <td>{last && <Status status={last.status} />}</td>
                  <td className="r num">{f.percent(health.success ?? 0)}</td>
                  <td className="r num sec">
                    p95 {health.p95 === undefined ? "—" : formatDuration(health.p95)}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
