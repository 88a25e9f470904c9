import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CirclePause, CloudOff, Hourglass, TriangleAlert, Zap } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { lastRuns } from "@/api/jobs";
import { runQuery } from "@/api/runs";
import type { JobItem, Run } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Legend } from "@/components/Legend";
import { Owner } from "@/components/Owner";
import { Card, Empty, Skeleton } from "@/components/Panel";
import { Remedy } from "@/components/Remedy";
import { RunTable } from "@/components/RunTable";
import { Segments } from "@/components/Segments";
import { Sideways } from "@/components/Sideways";
import { TaskIcon, taskKind } from "@/components/TaskIcon";
import { Ago } from "@/components/Time";
import { ZonedClock } from "@/components/ZonedClock";
import { usePageT } from "@/i18n";
import { usualRunColumns } from "@/lib/columns";
import { formatDuration, parseDuration } from "@/lib/duration";
import { runsElsewhere } from "@/lib/elsewhere";
import { isSameClock, relative, useFormat, usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { pauseOf } from "@/lib/pause";
import { policiesInWords } from "@/lib/policies";
import { resultOf, useSayer } from "@/lib/reason";
import { healthOf, isCut } from "@/lib/stats";
import { isFailure, waitsSince } from "@/lib/status";
import { expressionOf, kindOf, scheduleInWords, zoneOf } from "@/lib/words";
import { useRunNow } from "@/shell/actions";
import { GroupPauseNote } from "@/shell/GroupPauseNote";
import { useMay } from "@/shell/may";
import { useHeld } from "@/shell/useHeld";
import { WhyForm } from "@/shell/WhyForm";
import { Chain } from "./Chain";
import { FireMenu } from "./FireMenu";
import { HistoryChart } from "./HistoryChart";
import { Marks } from "./Marks";
import { Reliability } from "./Reliability";
import { useMarks } from "./useMarks";

const PingsCard = lazy(() => import("./pings/PingsCard"));
const Concurrency = lazy(() => import("./Concurrency"));

const columns = usualRunColumns("job", "executor");

type Which = "all" | "failed" | "manual";

const select: Record<Which, (r: Run) => boolean> = {
  all: () => true,
  failed: (r) => isFailure(r.status),
  manual: (r) => r.cause === "manual" || r.cause === "api",
};

export function JobOverview({ item }: { item: JobItem }) {
  const may = useMay();
  const run = useRunNow();
  const { t, f } = usePageWords();
  const now = useNow();
  const { say } = useSayer();
  const [which, setWhich] = useState<Which>("all");
  const d = item.definition;
  const pause = pauseOf(d, now);
  const runs = item.last_runs ?? [];
  const marks = useMarks(item);
  const health = healthOf(runs);
  const shown = runs.filter(select[which]).slice(0, 12);
  const first = item.next_fires[0];
  const ref = refOf(d.job);
  const group = useQuery(groupsQuery).data?.items.find((g) => g.executor_group === ref.group);
  const zoned = !isSameClock(zoneOf(d.schedule), f.zone, now);
  const elsewhere = runsElsewhere(d);
  return (
    <div className="pad split-page">
      <div className="grid">
        <Incident runs={runs} streak={health.streak} />
        {!elsewhere && <Waits item={item} />}
        <GroupPauseNote group={group}>
          <Link to="/executors/$group" params={ref} className="link">
            {t.run.lookAtExecutors(ref.group)}
          </Link>
        </GroupPauseNote>
        {pause && (
          <div className="note warn">
            <CirclePause size={15} aria-hidden />
            <span>
              {pause.until ? t.pause.banner(f.short(pause.until, now)) : t.job.pausedBanner}{" "}
              {item.pause_reason ? (
                <>
                  {say(item.pause_reason)} <Remedy job={d.job} reason={item.pause_reason} />
                </>
              ) : (
                <>
                  {d.author && t.runs.by(d.author)} {d.note && `“${d.note}”`}
                </>
              )}
            </span>
          </div>
        )}
        {elsewhere && (
          <Suspense fallback={<Skeleton rows={6} />}>
            <PingsCard item={item} />
          </Suspense>
        )}
        <Card
          title={t.job.chart}
          note={zoned && t.job.inZone(f.zone)}
          aside={
            <Legend
              marks={[
                ["b-ok", t.status.succeeded],
                ["b-bad", t.status.failed],
                ["ring", t.job.manual],
                ["hollow", t.job.planned],
                ...(marks.length > 0 ? [["mark", t.job.change] as [string, string]] : []),
              ]}
            />
          }
        >
          {item.last_runs === null ? (
            <Empty icon={CloudOff} title={t.jobs.historyAway} />
          ) : runs.length === 0 ? (
            <Empty title={t.job.noRuns} hint={first && t.job.firstFire(relative(first.due, now, t))}>
              {!elsewhere && may("operate", refOf(d.job).group) && (
                <Button icon={Zap} busy={run.isPending} onClick={() => run.mutate({ job: d.job })}>
                  {t.job.runOnce}
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <HistoryChart
                item={item}
                runs={runs}
                p95={health.p95}
                timeout={d.timeout ? parseDuration(d.timeout) : undefined}
                marks={marks}
              />
              <Marks marks={marks} job={ref} />
            </>
          )}
        </Card>
        <WhyForm job={d.job} zone={zoneOf(d.schedule)} />
        {runs.length > 0 && (
          <Card
            title={t.job.recent}
            note={
              <>
                {zoned && <span>{t.job.inZone(f.zone)} </span>}
                <Segments
                  label={t.job.recent}
                  value={which}
                  onChange={setWhich}
                  options={[
                    { value: "all", label: t.job.all },
                    { value: "failed", label: t.job.failedOnly },
                    { value: "manual", label: t.job.manualOnly },
                  ]}
                />
              </>
            }
            aside={
              <Link to="/jobs/$group/$name/$tab" params={{ ...refOf(d.job), tab: "runs" }} className="link">
                {t.job.allRuns}
              </Link>
            }
          >
            {shown.length === 0 ? (
              <Empty title={t.runlist.none} />
            ) : (
              <Sideways>
                <RunTable runs={shown} columns={columns} usual={health.p95} />
              </Sideways>
            )}
          </Card>
        )}
        {runs.length > 0 && (
          <Suspense fallback={<Skeleton rows={6} />}>
            <Concurrency job={d} />
          </Suspense>
        )}
      </div>
      <div className="grid rail">
        <ScheduleCard item={item} />
        <Reliability job={d.job} runs={runs} />
        <Policy item={item} />
        <Chain item={item} />
      </div>
    </div>
  );
}

/** What the run of a job that has waited longest waits for, or what its next one would. */
function Waits({ item }: { item: JobItem }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const { job } = item.definition;
  const run = item.last_runs?.findLast((r) => r.status === "pending" || r.status === "queued");
  // Lists do not know why no instance takes a run.
  const detail = useQuery({ ...runQuery(run?.run_id ?? ""), enabled: run !== undefined && !run.reason }).data;
  const reason = run?.reason ?? detail?.attempts[0]?.reason;
  const warning = item.warnings?.[0]?.reason;
  if (!run && !warning) return null;
  return (
    <div className="note warn" role="status">
      <Hourglass size={15} aria-hidden />
      <span>
        <b>{run ? t.remedy.waits(f.short(waitsSince(run), now)) : t.remedy.warned}</b>{" "}
        {say(run ? reason : warning) || t.remedy.waitsQuietly}{" "}
        <Remedy job={job} reason={run ? (reason ?? { text: "", code: "nobody_free" }) : warning} />
      </span>
    </div>
  );
}

/** What is wrong, when the last run failed: since when, and whether it is one error. */
function Incident({ runs, streak }: { runs: Run[]; streak: number }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const judged = runs.filter((r) => r.status === "succeeded" || isFailure(r.status));
  const last = judged[0];
  const first = judged[streak - 1];
  if (streak === 0 || !last || !first) return null;
  const same = judged.slice(0, streak).every((r) => resultOf(r, say) === resultOf(last, say));
  const good = judged[streak];
  const cut = isCut(runs, streak, lastRuns);
  return (
    <div className="incident" role="status">
      <TriangleAlert size={16} aria-hidden />
      <p className="grow">
        <b>{(cut ? t.job.failingBefore : t.job.failingSince)(f.short(first.fire_time, now))}</b>
        {" — "}
        {streak > 1 && `${cut ? t.overview.manyFailures(streak) : t.job.failingText(streak)}, `}
        {same && streak > 1 ? t.job.sameError : t.job.lastError}{" "}
        <code className="mono">{resultOf(last, say) || t.status[last.status]}</code>
      </p>
      {good && (
        <Link to="/runs/$runId" params={{ runId: good.run_id }} className="link">
          {t.job.compare}
        </Link>
      )}
      <Link to="/runs/$runId" params={{ runId: last.run_id }} className="link">
        {t.job.showRun}
      </Link>
    </div>
  );
}

function ScheduleCard({ item }: { item: JobItem }) {
  const t = usePageT();
  const { say } = useSayer();
  const f = useFormat();
  const s = item.definition.schedule;
  const manual = kindOf(s) === "manual";
  const zone = zoneOf(s);
  const zoned = f.in(zone);
  const held = useHeld();
  return (
    <Card
      title={t.job.scheduleCard}
      aside={
        <Link
          to="/jobs/$group/$name/$tab"
          params={{ ...refOf(item.definition.job), tab: "schedule" }}
          className="link"
        >
          {t.job.tabs.schedule}
        </Link>
      }
    >
      <div className="b">
        <p className="headline">{scheduleInWords(s, t, item.next_fires[0]?.fire_time)}</p>
        {!manual && <p className="mono mut">{[expressionOf(s), zone].filter(Boolean).join(" · ")}</p>}
        <ul className="fires">
          {item.next_fires.slice(0, 5).map((fire) => (
            <li key={fire.fire_time} className={fire.skipped || held(fire.due) ? "skipped" : undefined}>
              <i className="dot-s" />
              <ZonedClock at={fire.due} zone={zone} write={(of) => of.time(fire.due)}>
                <span className="mut">{zoned.day(fire.due)}</span>
              </ZonedClock>
              {held(fire.due) && !fire.skipped ? (
                <span className="right mut" title={t.pause.wouldSkipHint}>
                  {t.pause.wouldSkip}
                </span>
              ) : (
                <span className="right mut" title={say(fire.reason)}>
                  {fire.skipped ? t.job.skippedFire : <Ago at={fire.due} />}
                </span>
              )}
              <FireMenu job={item.definition} fire={fire} />
            </li>
          ))}
        </ul>
        {item.next_fires.length === 0 && !manual && (
          <p className="mut">{item.definition.paused ? t.state.paused : t.job.noFires}</p>
        )}
      </div>
    </Card>
  );
}

function Policy({ item }: { item: JobItem }) {
  const t = usePageT();
  const d = item.definition;
  const { group } = refOf(d.job);
  const groups = useQuery(groupsQuery).data?.items;
  const online = groups
    ?.find((g) => g.executor_group === group)
    ?.instances.filter((i) => i.state === "online").length;
  const s = d.schedule;
  return (
    <Card title={t.job.policy}>
      <dl className="dl b">
        <dt>{t.job.group}</dt>
        <dd>
          <Link to="/executors" search={{ q: group }} className="plain">
            {group}
          </Link>
          {online !== undefined && !runsElsewhere(d) && (
            <span className={online === 0 ? "c-lost" : "mut"}> · {t.job.online(online)}</span>
          )}
        </dd>
        {d.owner && (
          <>
            <dt>{t.joblist.columns.owner}</dt>
            <dd>
              <Link to="/jobs" search={{ owner: [d.owner] }} className="plain">
                <Owner name={d.owner} />
              </Link>
            </dd>
          </>
        )}
        <dt>{t.job.task}</dt>
        <dd>
          <span className="row g2 end">
            <TaskIcon task={d.task} />
            {d.steps ? t.steps.steps(d.steps.length) : (d.task?.handler ?? t.job.taskKinds[taskKind(d.task)])}
          </span>
        </dd>
        {d.route && d.route !== "any" && (
          <>
            <dt>{t.job.route}</dt>
            <dd className="mono">{d.route}</dd>
          </>
        )}
        {d.labels && Object.keys(d.labels).length > 0 && (
          <>
            <dt>{t.job.labels}</dt>
            <dd className="mono">
              {Object.entries(d.labels)
                .map(([k, v]) => `${k}=${v}`)
                .join(", ")}
            </dd>
          </>
        )}
        {s?.spread && (
          <>
            <dt>{t.job.spread}</dt>
            <dd>0 – {formatDuration(parseDuration(s.spread) ?? 0)}</dd>
          </>
        )}
        {s?.except?.length ? (
          <>
            <dt>{t.job.except}</dt>
            <dd>{s.except.join(", ")}</dd>
          </>
        ) : null}
        {s?.only?.length ? (
          <>
            <dt>{t.job.only}</dt>
            <dd>{s.only.join(", ")}</dd>
          </>
        ) : null}
        {s?.shift && (
          <>
            <dt>{t.job.shift}</dt>
            <dd>{t.job.shiftWords[s.shift]}</dd>
          </>
        )}
      </dl>
      <ul className="policies b">
        {policiesInWords(d, t).map((said) => (
          <li key={said}>{said}</li>
        ))}
      </ul>
    </Card>
  );
}
