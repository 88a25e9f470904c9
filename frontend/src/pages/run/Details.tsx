import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BookmarkCheck, type LucideIcon, Pause, Play } from "lucide-react";
import type { ReactNode } from "react";
import { versionsQuery } from "@/api/jobs";
import { failuresQuery } from "@/api/reports";
import type { Change, JobItem, Run, RunDetail } from "@/api/schema.gen";
import { CauseMark } from "@/components/CauseIcon";
import { statusIcons } from "@/components/Status";
import { Clock, DatedClock } from "@/components/Time";
import { formatDuration, parseDuration } from "@/lib/duration";
import { hostOf } from "@/lib/elsewhere";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { alignedEnd } from "@/lib/ranges";
import { useSayer } from "@/lib/reason";
import { tones } from "@/lib/status";
import { spans } from "@/lib/timerange";
import { Lineage } from "./Lineage";
import { Mark } from "./Mark";
import { ExitCode, Json, Row, Why } from "./Row";

interface DetailsProps {
  detail: RunDetail;
  run: Run;
  job: JobItem | undefined;
  /** What comes first: the pieces of a run that has some. */
  children?: ReactNode;
}

/** How many attempts of the group failed in the same way within a week. */
function Alike({ error, group }: { error: string; group: string }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const to = alignedEnd(now, 3_600_000);
  const range = { from: new Date(to - spans["7d"]).toISOString(), to: new Date(to).toISOString() };
  const found = useQuery(failuresQuery({ error, group }, range)).data?.items[0];
  if (!found || found.attempts < 2) return null;
  return (
    <p>
      <Link to="/errors" search={{ error, group, range: "7d" }} className="link">
        {t.errors.alike(f.number(found.attempts), f.short(found.first, now))}
      </Link>
    </p>
  );
}

/** Everything known about a run beside its log. */
export function Details({ detail, run, job, children }: DetailsProps) {
  const { t } = usePageWords();
  const ref = refOf(detail.job);
  const { say } = useSayer();
  const host = hostOf(run);
  const why = say(run.message ?? run.reason);
  return (
    <aside className="details" aria-label={t.run.details}>
      {children}
      <Why title={run.message ? t.run.error : t.run.reason} bad={Boolean(run.message)} text={why}>
        {detail.error && run.attempt === detail.attempts[0]?.attempt && (
          <Alike error={detail.error} group={ref.group} />
        )}
      </Why>
      <Mark detail={detail} />
      {run.percent !== undefined && run.percent > 0 && (
        <section>
          <h2>
            {t.run.progress} <span className="right num">{Math.round(run.percent)}%</span>
          </h2>
          <div className="bar">
            <i className={`b-${tones[run.status]}`} style={{ width: `${run.percent}%` }} />
          </div>
          {run.text && <p className="sec">{run.text}</p>}
        </section>
      )}
      <section>
        <h2>{t.run.details}</h2>
        <dl className="dl">
          <Row name={host === undefined ? t.run.executor : t.pings.title}>
            {host !== undefined ? (
              t.pings.reportedBy(host)
            ) : run.instance ? (
              <Link to="/executors" search={{ q: run.instance }} className="link">
                {run.instance}
              </Link>
            ) : (
              "—"
            )}
          </Row>
          <Row name={t.run.version}>
            <Link
              to="/jobs/$group/$name/$tab"
              params={{ ...ref, tab: "versions" }}
              search={{ v: run.version }}
              className="link"
            >
              v{run.version}
            </Link>
          </Row>
          <Row name={t.run.cause}>
            <span className="row g2 end">
              <CauseMark cause={run.cause} by={run.by} />
            </span>
          </Row>
          <Row name={t.run.fireTime}>
            <DatedClock at={run.fire_time} />
            {run.count > 1 && run.until && <UntilNote run={run} until={run.until} />}
          </Row>
          <Row name={t.run.delivered}>{run.delivered_at && <Clock at={run.delivered_at} />}</Row>
          <Row name={t.run.started}>{run.started_at && <Clock at={run.started_at} />}</Row>
          <Row name={t.run.finished}>{run.finished_at && <Clock at={run.finished_at} />}</Row>
          <ExitCode name={t.run.exitCode} code={run.exit_code} />
          <Timeout run={run} job={job} />
          <Row name={t.run.delivery} className="c-warn">
            {(run.delivery ?? 0) > 1 && t.run.deliveries(run.delivery ?? 0)}
          </Row>
        </dl>
      </section>
      <Params detail={detail} run={run} job={job} />
      <Json title={t.run.result} value={run.result} />
      <Lineage detail={detail} run={run} job={job} />
      <section>
        <h2>{t.run.events}</h2>
        <ol className="events">
          {detail.changes.map((c, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a timeline only grows at its end
            <Event key={i} change={c} before={detail.changes[i - 1]} />
          ))}
        </ol>
      </section>
    </aside>
  );
}

/** What the run was given: of its own, or by its version. */
function Params({ detail, run, job }: { detail: RunDetail; run: Run; job: JobItem | undefined }) {
  const { t } = usePageWords();
  const current = job?.definition.version === run.version ? job.definition : undefined;
  const versions = useQuery({ ...versionsQuery(refOf(run.job)), enabled: job !== undefined && !current }).data
    ?.items;
  const definition = current ?? versions?.find((v) => v.version === run.version);
  if (detail.params !== undefined)
    return <Json title={t.run.params} tag={t.run.overridden} value={detail.params} />;
  return <Json title={t.run.params} value={definition?.params} />;
}

function UntilNote({ run, until }: { run: Run; until: string }) {
  const { t, f } = usePageWords();
  const now = useNow();
  return <div className="mut">{t.run.fires(run.count, f.short(until, now))}</div>;
}

function Timeout({ run, job }: { run: Run; job: JobItem | undefined }) {
  const { t } = usePageWords();
  const now = useNow();
  const limit =
    job?.definition.version === run.version && job.definition.timeout
      ? parseDuration(job.definition.timeout)
      : undefined;
  if (limit === undefined) return null;
  const left =
    run.status === "running" && run.started_at ? Date.parse(run.started_at) + limit - now : undefined;
  return (
    <Row name={t.run.timeout} className="num">
      {formatDuration(limit)}
      {left !== undefined && left > 0 && (
        <span className="mut"> ({t.run.left(formatDuration(Math.floor(left / 1000) * 1000))})</span>
      )}
    </Row>
  );
}

/** What people did to a run. */
const handIcons: Partial<Record<Change["kind"], LucideIcon>> = {
  marked: BookmarkCheck,
  on_hold: Pause,
  resumed: Play,
};

function Event({ change, before }: { change: Change; before: Change | undefined }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const byHand = handIcons[change.kind];
  const Icon = byHand ?? statusIcons[change.status ?? "pending"];
  const since = before ? Date.parse(change.at) - Date.parse(before.at) : undefined;
  return (
    <li>
      <span className={`c-${tones[change.status ?? "pending"]} ev`}>
        <Icon size={14} aria-hidden />
      </span>
      <span className="grow">
        <span className="row g2">
          <b>
            {change.mark
              ? t.run.mark.as[change.mark]
              : change.status && !byHand
                ? t.status[change.status]
                : (t.run.kinds[change.kind] ?? change.kind)}
          </b>
          {change.attempt > 1 && <span className="mut">{t.runlist.attempt(change.attempt)}</span>}
          <time className="right mut num" title={f.full(change.at)} dateTime={change.at}>
            {since === undefined ? f.short(change.at, now) : `+${formatDuration(since)}`}
          </time>
        </span>
        <span className="mut">
          {[
            change.mark || (change.status && !byHand) ? t.run.kinds[change.kind] : "",
            change.by && t.runs.by(change.by),
            hostOf(change) ?? change.instance,
            say(change.detail),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </span>
    </li>
  );
}
