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
import { requestedByJob, requestedTotal } from "@/lib/requested";
import type { Scope } from "@/lib/scope";
import { useHeld } from "@/shell/useHeld";

const shown = 5;
const day = 24 * 3_600_000;

/** The jobs that run next, each once: at a fire, or at a time for which somebody has requested a run. */
export function UpNext({ scope }: { scope: Scope }) {
  const { t } = useWords();
  const now = useNow();
  const held = useHeld();
  const queries = presentQueries(now, scope);
  const counted = useQuery(queries.soon);
  const soon = counted.data;
  const hasSoon = soon === undefined || soon.jobs >= shown;
  const today = { ...scope, from: new Date(now).toISOString(), to: new Date(now + day).toISOString() };
  // How much fires soon tells which of the two is needed.
  const page = useQuery({
    ...(hasSoon ? queries.next : firesQuery(today, 3, "day")),
    enabled: !counted.isPending,
  });
  const first = (job: string, times: string[], requested: boolean) => {
    const at = times.find((time) => Date.parse(time) > now);
    return at ? [{ job, at, requested }] : [];
  };
  const asked = page.data?.requested;
  const many = asked?.hours ? requestedTotal(asked) : 0;
  const next = [
    ...(page.data?.items ?? []).flatMap(({ job, fires }) => first(job, fires, false)),
    ...[...requestedByJob(asked)].flatMap(([job, times]) => first(job, times, true)),
  ]
    .sort((a, b) => a.at.localeCompare(b.at))
    .filter(({ job }, i, all) => all.findIndex((other) => other.job === job) === i)
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
      {next.length + many === 0 && page.data ? (
        <Empty title={t.overview.nothingNext} />
      ) : (
        <div className="list">
          {next.map(({ job, at, requested }) => (
            <Link key={job} to="/jobs/$group/$name" params={refOf(job)} className="li tight">
              <GroupDot group={refOf(job).group} />
              <span className="grow trunc" title={job}>
                <b className="name">
                  <JobTitle job={job} />
                </b>{" "}
                <span className="mut">{refOf(job).group}</span>
                {requested && <span className="mut"> · {t.overview.requested}</span>}
              </span>
              <Clock at={at} className={held(at) && !requested ? "num sec struck" : "num sec"} />
              {held(at) && !requested ? (
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
          {many > 0 && <p className="b mut">{t.overview.requestedNext(many)}</p>}
        </div>
      )}
    </Card>
  );
}
