import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Activity,
  Bell,
  BookCheck,
  Bug,
  CalendarClock,
  CalendarDays,
  CalendarRange,
  CirclePlay,
  CircleQuestionMark,
  ClipboardList,
  Gauge,
  History,
  Keyboard,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  Pause,
  Pencil,
  Play,
  Plus,
  ScrollText,
  Server,
  Settings,
  Stamp,
  SunMoon,
  Zap,
} from "lucide-react";
import { groupsQuery, holdQuery } from "@/api/cluster";
import type { JobVersion } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { runsElsewhere } from "@/lib/elsewhere";
import { isLike } from "@/lib/fuzzy";
import { isRunId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { isLive, setLive } from "@/lib/live-switch";
import { pauseOf } from "@/lib/pause";
import { recent } from "@/lib/recent";
import { failures } from "@/lib/status";
import { scheduleInWords } from "@/lib/words";
import { usePause, useRunNow } from "../actions";
import { useShell } from "../context";
import { useMay } from "../may";
import { toggleTheme } from "../TopTools";

/** Something that the palette finds. */
export interface Entry {
  id: string;
  section: string;
  icon: LucideIcon;
  text: string;
  aside?: string;
  keys?: string;
  /** The job that it is, whose actions the right arrow opens. */
  job?: JobVersion;
  /** Why it cannot be done. */
  disabled?: string;
  go(): void;
}

/** What can be done with a job that was found. */
export function useJobActions(): (job: JobVersion) => Entry[] {
  const t = usePageT();
  const navigate = useNavigate();
  const run = useRunNow();
  const pause = usePause();
  const may = useMay();
  return (d) => {
    const section = t.palette.actions(d.job);
    const params = refOf(d.job);
    const paused = pauseOf(d, serverNow()) !== undefined;
    const entries: Entry[] = [];
    if (may("operate", params.group)) {
      entries.push(
        {
          id: "a-run",
          section,
          icon: Zap,
          text: t.act.run,
          disabled: runsElsewhere(d) ? t.pings.elsewhere : undefined,
          go: () => run.mutate({ job: d.job }),
        },
        {
          id: "a-pause",
          section,
          icon: paused ? Play : Pause,
          text: paused ? t.act.resume : t.act.pause,
          go: () => pause.mutate({ job: d.job, paused: !paused }),
        },
      );
    }
    if (may("edit", params.group)) {
      entries.push({
        id: "a-edit",
        section,
        icon: Pencil,
        text: t.act.edit,
        go: () => void navigate({ to: "/jobs/$group/$name/edit", params }),
      });
    }
    entries.push(
      {
        id: "a-why",
        section,
        icon: CircleQuestionMark,
        text: t.whyForm.title,
        go: () => void navigate({ to: "/why", search: { job: d.job } }),
      },
      {
        id: "a-failed",
        section,
        icon: Activity,
        text: t.palette.failedRuns,
        go: () => void navigate({ to: "/runs", search: { job: [d.job], status: failures, range: "7d" } }),
      },
      {
        id: "a-logs",
        section,
        icon: ScrollText,
        text: t.palette.jobLogs,
        go: () => void navigate({ to: "/logs", search: { job: [d.job], range: "24h" } }),
      },
    );
    return entries;
  };
}

/** What there is for a text: jobs that the server found, and what the console knows by itself. */
export function useEntries(q: string, jobs: JobVersion[]): Entry[] {
  const t = usePageT();
  const navigate = useNavigate();
  const { openHelp, openEverything } = useShell();
  const paused = useQuery(holdQuery).data?.paused;
  const may = useMay();
  const actionsOf = useJobActions();
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const entries: Entry[] = [];
  if (isRunId(q)) {
    const run_id = q.toLowerCase();
    entries.push({
      id: "run",
      section: t.palette.run,
      icon: Activity,
      text: run_id,
      go: () => void navigate({ to: "/runs/$runId", params: { runId: run_id } }),
    });
  }
  if (q === "") {
    for (const { path, text } of recent()) {
      const params = refOf(text);
      entries.push({
        id: path,
        section: t.palette.recent,
        icon: History,
        text,
        go: () => void navigate({ to: "/jobs/$group/$name", params }),
      });
    }
  }
  const known = new Set(recent().map((r) => r.text));
  for (const d of jobs.filter((d) => q !== "" || !known.has(d.job)).slice(0, q === "" ? 4 : 8)) {
    const params = refOf(d.job);
    entries.push({
      id: d.job,
      section: t.palette.jobs,
      icon: ListChecks,
      text: d.title || d.job,
      aside: d.title ? d.job : scheduleInWords(d.schedule, t),
      job: d,
      go: () => void navigate({ to: "/jobs/$group/$name", params }),
    });
  }
  const [top] = jobs;
  if (top && q !== "") entries.push(...actionsOf(top));
  if (q !== "") entries.push(...fleet());
  entries.push(...pages());
  if (q !== "") {
    entries.push({
      id: "search-logs",
      section: t.palette.pages,
      icon: ScrollText,
      text: t.palette.searchLogs(q),
      go: () => void navigate({ to: "/logs", search: { q } }),
    });
  }
  return entries;

  function fleet(): Entry[] {
    const section = t.nav.executors;
    const found = groups.flatMap(({ executor_group: group, instances }): Entry[] => [
      {
        id: `g-${group}`,
        section,
        icon: Server,
        text: group,
        aside: t.executors.onlineCount(instances.filter((i) => i.state === "online").length),
        go: () => void navigate({ to: "/executors/$group", params: { group } }),
      },
      ...instances.map(({ instance }) => ({
        id: `i-${group}/${instance}`,
        section,
        icon: Server,
        text: instance,
        aside: group,
        go: () => void navigate({ to: "/executors/$group/$instance", params: { group, instance } }),
      })),
    ]);
    return found.filter((e) => e.text.toLowerCase().includes(q.toLowerCase())).slice(0, 5);
  }

  function pages(): Entry[] {
    const all = [
      [t.nav.overview, LayoutDashboard, "/", "G O"],
      [t.nav.jobs, ListChecks, "/jobs", "G J"],
      [t.nav.runs, Activity, "/runs", "G R"],
      [t.nav.errors, Bug, "/errors", undefined],
      [t.nav.schedule, CalendarClock, "/schedule", "G S"],
      [t.plan.load, CalendarClock, "/schedule/load", undefined],
      [t.nav.executors, Server, "/executors", "G E"],
      [t.nav.logs, ScrollText, "/logs", "G L"],
      [t.nav.alerts, Bell, "/alerts", "G A"],
      [t.nav.approvals, Stamp, "/approvals", "G P"],
      [t.nav.ledger, BookCheck, "/ledger", undefined],
      [t.month.title, CalendarRange, "/reports/month", undefined],
      [t.bulkBackfill.title, History, "/backfills", undefined],
      [t.whyForm.title, CircleQuestionMark, "/why", undefined],
      [t.nav.calendars, CalendarDays, "/calendars", undefined],
      [t.nav.audit, ClipboardList, "/audit", undefined],
      [t.nav.cluster, Gauge, "/cluster", "G C"],
      [t.nav.settings, Settings, "/settings", undefined],
      [t.act.newJob, Plus, "/jobs/new", "N"],
    ] as const;
    const found: Entry[] = all
      .filter(([, , to]) => !(to === "/audit" && !may("admin", "*")) && !(to === "/jobs/new" && !may("edit")))
      .map(([text, icon, to, keys]) => ({
        id: `p-${to}`,
        section: t.palette.pages,
        icon,
        text,
        keys,
        go: () => void navigate({ to }),
      }));
    const section = t.palette.console;
    if (paused !== undefined && may("operate", "*")) {
      found.push({
        id: "c-everything",
        section,
        icon: paused ? Play : Pause,
        text: paused ? t.overview.resumeAll : t.overview.pauseAll,
        go: openEverything,
      });
    }
    found.push(
      { id: "c-theme", section, icon: SunMoon, text: t.shortcuts.theme, keys: "T", go: toggleTheme },
      {
        id: "c-live",
        section,
        icon: CirclePlay,
        text: t.shortcuts.live,
        keys: "L",
        go: () => setLive(!isLive()),
      },
      { id: "c-help", section, icon: Keyboard, text: t.shortcuts.title, keys: "?", go: openHelp },
    );
    return found.filter((e) => isLike(e.text, q));
  }
}
