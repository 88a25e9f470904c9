import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { refOf } from "@/api/jobs";
import { fireCounts, firesQuery } from "@/api/schedule";
import { Card, Empty } from "@/components/Panel";
import { GroupDot } from "@/components/TaskIcon";
import { Clock, Countdown } from "@/components/Time";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";

const shown = 5;
const minute = 60_000;

/** The jobs that fire next, each once. */
export function UpNext() {
  const { t } = useWords();
  const now = useNow();
  const from = new Date(now).toISOString();
  const soon = useQuery(fireCounts({ from, to: new Date(now + 10 * minute).toISOString() }, 1, "soon")).data;
  const hasSoon = soon === undefined || soon.jobs >= shown;
  const to = new Date(now + (hasSoon ? 60 * minute : 24 * 60 * minute)).toISOString();
  const page = useQuery(firesQuery({ from, to }, 3, hasSoon ? "hour" : "day"));
  const next = (page.data?.items ?? [])
    .flatMap(({ job, fires }) => {
      const at = fires.find((f) => Date.parse(f) > now);
      return at ? [{ job, at }] : [];
    })
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, shown);
  return (
    <Card
      title={t.overview.next}
      note={soon?.counts[0] !== undefined && t.overview.firesSoon(soon.counts[0])}
      aside={
        <Link to="/schedule" className="link">
          {t.overview.timeline}
        </Link>
      }
    >
      {next.length === 0 && page.data ? (
        <Empty title={t.overview.nothingNext} />
      ) : (
        <div className="list">
          {next.map(({ job, at }) => (
            <Link key={job} to="/jobs/$group/$name" params={refOf(job)} className="li tight">
              <GroupDot group={refOf(job).group} />
              <span className="grow trunc">
                <b className="name">{refOf(job).name}</b> <span className="mut">{refOf(job).group}</span>
              </span>
              <Clock at={at} className="num sec" />
              <b className="count">
                <Countdown at={at} />
              </b>
            </Link>
          ))}
        </div>
      )}
    </Card>
  );
}
