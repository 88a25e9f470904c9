import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { presentQueries } from "@/api/overview";
import { firesQuery } from "@/api/schedule";
import { JobTitle } from "@/components/JobTitle";
import { Card, Empty } from "@/components/Panel";
import { GroupDot } from "@/components/TaskIcon";
import { Clock, Countdown } from "@/components/Time";
import { useWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import type { Scope } from "@/lib/scope";
import { useHeld } from "@/shell/useHeld";

const shown = 5;
const day = 24 * 3_600_000;

/** The jobs that fire next, each once. */
export function UpNext({ scope }: { scope: Scope }) {
  const { t } = useWords();
  const now = useNow();
  const held = useHeld();
  const asked = presentQueries(now, scope);
  const counted = useQuery(asked.soon);
  const soon = counted.data;
  const hasSoon = soon === undefined || soon.jobs >= shown;
  const today = { ...scope, from: new Date(now).toISOString(), to: new Date(now + day).toISOString() };
  // How much fires soon tells which of the two is needed.
  const page = useQuery({
    ...(hasSoon ? asked.next : firesQuery(today, 3, "day")),
    enabled: !counted.isPending,
  });
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
      note={
        soon?.counts[0] !== undefined &&
        (held(now + 10 * 60_000) ? t.overview.skippedSoon : t.overview.firesSoon)(soon.counts[0])
      }
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
              <span className="grow trunc" title={job}>
                <b className="name">
                  <JobTitle job={job} />
                </b>{" "}
                <span className="mut">{refOf(job).group}</span>
              </span>
              <Clock at={at} className={held(at) ? "num sec struck" : "num sec"} />
              {held(at) ? (
                <span className="mut" title={t.pause.wouldSkipHint}>
                  {t.pause.wouldSkip}
                </span>
              ) : (
                <b className="count">
                  <Countdown at={at} />
                </b>
              )}
            </Link>
          ))}
        </div>
      )}
    </Card>
  );
}
