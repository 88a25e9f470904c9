import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import {
  CalendarX2,
  CircleCheck,
  CirclePause,
  CloudOff,
  Hourglass,
  type LucideIcon,
  MailX,
  MegaphoneOff,
  ServerOff,
  Split,
  TriangleAlert,
  Unplug,
} from "lucide-react";
import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { channelsQuery, failingChannels } from "@/api/alerts";
import { groupsQuery, nodesQuery } from "@/api/cluster";
import { deadlinesQuery } from "@/api/deadlines";
import { failingJobs, gaveUp, gaveUpJobs, jobCount, jobFacets } from "@/api/jobs";
import { presentQueries } from "@/api/overview";
import { historyQuery } from "@/api/retention";
import { latestRuns, livingRuns } from "@/api/runs";
import { Card, Empty, Skeleton } from "@/components/Panel";
import { statusIcons } from "@/components/Status";
import { Age } from "@/components/Time";
import { useT } from "@/i18n";
import type { Messages } from "@/i18n/en";
import { every } from "@/lib/every";
import { useWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { resultOf, type Sayer, useSayer } from "@/lib/reason";
import { choicesOfScope, conditionsOfScope, isScoped, type Scope } from "@/lib/scope";
import { forgetSnoozed, snooze, useSnoozed } from "@/lib/snooze";
import { failures, living, type Tone, tones } from "@/lib/status";
import { useMay } from "@/shell/may";
import { type Concern, concernsOf } from "./concerns";

// Menus are not needed for the first paint.
const SnoozeMenu = lazy(() => import("./SnoozeMenu"));

const most = 6;

const noneGaveUp = { jobs: 0, job: undefined };

/** What needs somebody, by its cause: the gravest first, and nothing that one has snoozed. */
export function Attention({ scope }: { scope: Scope }) {
  const t = useT();
  const may = useMay();
  const [whole, setWhole] = useState(false);
  const now = useNow();
  const asked = presentQueries(now, scope);
  const within = conditionsOfScope(scope);
  const errors = useQuery(asked.failing);
  const alike = errors.data?.shared ?? [];
  const list = useQuery({
    ...failingJobs(
      failures,
      alike.map((e) => e.value),
      errors.data?.others === 0,
      within,
    ),
    enabled: !errors.isPending,
  });
  const groups = useQuery(groupsQuery);
  // Of a scope, the groups are those of its jobs, and what is everybody's is left out.
  const all = !isScoped(scope);
  const own = useQuery({ ...jobFacets({ where: within }), enabled: !all }).data?.items.group;
  const theirs = (groups.data?.items ?? []).filter(
    (g) => all || own?.some((v) => v.value === g.executor_group),
  );
  const nodes = useQuery(nodesQuery);
  const missed = useQuery(asked.missed);
  const paused = useQuery(jobCount(gaveUp(within)));
  const lastPaused = useQuery({ ...gaveUpJobs(within), enabled: (paused.data ?? 0) > 0 });
  const channels = useQuery({ ...channelsQuery, enabled: may("admin", "*") });
  const someLive = (useQuery(livingRuns).data?.items.length ?? 0) > 0;
  const deadlines = useQuery({ ...deadlinesQuery(), enabled: someLive });
  const history = useQuery({ ...historyQuery, refetchInterval: every(30_000) });
  const jobs = list.data;
  const last = paused.data === 0 ? noneGaveUp : lastPaused.data;
  const isPausedUnknown = paused.isError || lastPaused.isError;
  const failing = jobs?.items ?? [];
  const concerns = concernsOf({
    unowned: nodes.data?.unowned.length ?? 0,
    groups: theirs,
    channels: all ? failingChannels(channels.data?.items ?? []) : [],
    gaveUp: last ?? noneGaveUp,
    alike,
    failing,
    late: all && someLive ? (deadlines.data?.items ?? []).filter((d) => d.late) : [],
    dead: all ? (history.data?.dead_letters ?? 0) : 0,
    missed: missed.data?.items[0]?.missed ?? 0,
    now,
  });
  const snoozed = useSnoozed();
  const isSnoozed = ({ id }: Concern) => {
    const until = snoozed[id];
    return until === "over" || (until !== undefined && until > now);
  };
  const shown = concerns.filter((c) => !isSnoozed(c));
  const hidden = concerns.length - shown.length;
  const unlisted = (jobs?.total ?? 0) - failing.length;
  const count = shown.length + unlisted;
  const counted = groups.data?.items.every((g) => g.waiting_runs !== undefined); // not while the history is away
  const known =
    counted &&
    jobs !== undefined &&
    all && // what others have snoozed is not seen here
    last !== undefined &&
    (deadlines.isSuccess || !someLive) &&
    [errors, groups, nodes, missed, paused].every((q) => q.isSuccess);
  const there = concerns.map((c) => c.id).join("\n");
  useEffect(() => {
    if (known) forgetSnoozed(now, new Set(there.split("\n")));
  }, [known, now, there]);
  return (
    <Card
      title={t.overview.attention}
      note={count > 0 && <span className="tag num">{count}</span>}
      aside={
        alike.length + failing.length > 0 && (
          <>
            <Link to="/errors" search={scope} className="link">
              {t.nav.errors}
            </Link>
            <Link to="/jobs" search={{ ...choicesOfScope(scope), view: "failing" }} className="link">
              {t.overview.allRunning}
            </Link>
          </>
        )
      }
    >
      {((list.isError && !jobs) || (isPausedUnknown && !last)) && (
        <Empty icon={CloudOff} title={t.jobs.historyAway} />
      )}
      {count === 0 && ((!jobs && !list.isError) || (!last && !isPausedUnknown)) ? (
        <Skeleton rows={4} />
      ) : count === 0 && jobs && last ? (
        <Calm quiet={hidden === 0} scope={scope} />
      ) : (
        <div className="list">
          {shown.slice(0, whole ? undefined : most).map((c) => (
            <Item key={c.id} concern={c} scope={scope} />
          ))}
          {!whole && shown.length > most && (
            <button type="button" className="li tight link" onClick={() => setWhole(true)}>
              {t.overview.showAll(shown.length - most)}
            </button>
          )}
        </div>
      )}
      {hidden > 0 && (
        <p className="li tight mut">
          {t.overview.snoozed(hidden)}
          <button
            type="button"
            className="link right"
            onClick={() => {
              for (const c of concerns.filter(isSnoozed)) snooze(c.id, undefined);
            }}
          >
            {t.overview.showSnoozed}
          </button>
        </p>
      )}
    </Card>
  );
}

/** Nothing needs anybody; and when something did at last. */
function Calm({ quiet, scope }: { quiet: boolean; scope: Scope }) {
  const { t, f } = useWords();
  const now = useNow();
  const last = useQuery(latestRuns({ ...scope, status: failures }, 1, 30_000)).data?.items[0];
  return (
    <Empty
      icon={CircleCheck}
      title={t.overview.calm}
      hint={
        last
          ? t.overview.lastTrouble(f.short(last.finished_at ?? last.fire_time, now))
          : quiet && t.overview.calmHint
      }
    />
  );
}

function Item({ concern, scope }: { concern: Concern; scope: Scope }) {
  const { t, f } = useWords();
  const { say } = useSayer();
  const now = useNow();
  const short = (at: string) => f.short(at, now);
  const { icon: Icon, tone, name, says, at, ...link } = look(concern, { t, short, say, scope });
  return (
    <div className="li">
      <span className={`ico c-${tone} soft-${tone}`}>
        <Icon size={15} aria-hidden />
      </span>
      <Link {...link} className="grow two-lines">
        <span className="row g2">
          <b className="trunc" title={name}>
            {name}
          </b>
          {at && (
            <span className="right mut num">
              <Age at={at} />
            </span>
          )}
        </span>
        <span className="sec trunc">{says}</span>
      </Link>
      <Suspense fallback={<span className="ic" />}>
        <SnoozeMenu id={concern.id} name={name} />
      </Suspense>
    </div>
  );
}

type Look = Pick<LinkProps, "to" | "params" | "search"> & {
  icon: LucideIcon;
  tone: Tone;
  name: string;
  says: ReactNode;
  at?: string;
};

/** What puts a concern into words. */
interface Teller {
  t: Messages;
  short: (at: string) => string;
  say: Sayer["say"];
  scope: Scope;
}

/** How several things in the same trouble are shown. */
const several: Record<
  Extract<Concern, { kind: "several" }>["of"],
  Pick<Look, "icon" | "tone" | "to" | "search">
> = {
  empty: { icon: ServerOff, tone: "lost", to: "/executors" },
  stuck: { icon: Hourglass, tone: "warn", to: "/runs", search: { status: ["pending"], range: "30d" } },
  lost: { icon: Unplug, tone: "lost", to: "/executors", search: { state: ["lost"] } },
};

/** How something that needs somebody is shown, and where its cause is. */
function look(c: Concern, { t, short, say, scope }: Teller): Look {
  switch (c.kind) {
    case "unowned":
      return {
        icon: Split,
        tone: "bad",
        name: t.nav.cluster,
        says: t.overview.unowned(c.shards),
        to: "/cluster",
      };
    case "lost":
      return {
        icon: Unplug,
        tone: "lost",
        name: c.instance,
        says: t.overview.lostExecutor(c.group),
        at: c.at,
        to: "/executors/$group/$instance",
        params: { group: c.group, instance: c.instance },
      };
    case "empty":
      return {
        icon: ServerOff,
        tone: "lost",
        name: c.group,
        says: t.overview.noExecutor,
        to: "/executors",
        search: { q: c.group },
      };
    case "stuck":
      return {
        icon: Hourglass,
        tone: "warn",
        name: c.group,
        says: t.overview.stuck(c.runs),
        at: c.at,
        to: "/runs",
        search: { group: c.group, status: ["pending"], range: "30d" },
      };
    case "several":
      return {
        ...several[c.of],
        name: t.overview.several[c.of](c.names.length),
        says: c.names.join(", "),
      };
    case "channels": {
      const [first] = c.channels;
      const answer = first?.health.answer?.status;
      return {
        icon: MegaphoneOff,
        tone: "bad",
        name: t.overview.channels(c.channels.length),
        says: [c.channels.map((x) => x.definition.channel).join(", "), answer].filter(Boolean).join(" · "),
        to: "/alerts/$tab",
        params: { tab: "channels" },
      };
    }
    case "gaveUp": {
      const single = c.jobs === 1;
      const { group, name } = refOf(c.job.job);
      const title = c.job.title || name;
      return {
        icon: CirclePause,
        tone: "bad",
        name: single ? title : t.overview.gaveUpJobs(c.jobs),
        says: single ? t.overview.gaveUp : t.overview.gaveUpLast(c.job.title || c.job.job),
        at: c.job.effective_from,
        ...(single
          ? { to: "/jobs/$group/$name", params: { group, name } }
          : { to: "/jobs", search: { ...choicesOfScope(scope), state: ["gave_up"] } }),
      };
    }
    case "alike":
      return {
        icon: TriangleAlert,
        tone: "bad",
        name: t.overview.alike(c.jobs),
        says: say(c.message) || c.error,
        to: "/jobs",
        search: { ...choicesOfScope(scope), view: "failing", error: [c.error] },
      };
    case "late": {
      const [first] = c.runs;
      const jobs = c.runs.map((d) => d.job).join(", ");
      return {
        icon: Hourglass,
        tone: "warn",
        ...(first && c.runs.length === 1
          ? {
              name: first.job,
              says: t.overview.lateRun(short(first.at)),
              to: "/runs/$runId",
              params: { runId: first.run_id },
            }
          : {
              name: t.overview.lateRuns(c.runs.length),
              says: jobs,
              to: "/runs",
              search: { status: living },
            }),
      };
    }
    case "dead":
      return {
        icon: MailX,
        tone: "warn",
        name: t.overview.deadTitle,
        says: t.overview.deadLetters(c.letters),
        to: "/cluster",
      };
    case "missed":
      return {
        icon: CalendarX2,
        tone: "warn",
        name: t.overview.missedTitle,
        says: t.overview.missedFires(c.fires),
        to: "/runs",
        search: { ...scope, status: ["missed"], range: "1h" },
      };
    case "job": {
      const { run, title, streak, more } = c;
      const result = resultOf(run, say);
      return {
        icon: run.status === "failed" ? TriangleAlert : statusIcons[run.status],
        tone: tones[run.status],
        name: title || refOf(run.job).name,
        says: (
          <>
            {more ? t.overview.manyFailures(streak) : t.overview.failures(streak)}
            {result && ` · ${result}`}
          </>
        ),
        at: run.fire_time,
        to: "/runs/$runId",
        params: { runId: run.run_id },
      };
    }
  }
}
