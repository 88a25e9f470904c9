import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { askForJobs, jobViews } from "./api/joblist";
import { askAhead } from "./api/overview";
import { meKey } from "./api/session";
import { isValue, type JobField, jobFields } from "./lib/jobfilter";
import { refOf } from "./lib/jobref";
import { getPrefs } from "./lib/prefs";
import { readScope, type Scope, scopeSearch } from "./lib/scope";
import { many, manyOf, one, oneOf, parseSearch, type RawSearch, stringifySearch, whole } from "./lib/search";
import { statuses } from "./lib/status";
import { type RangeSearch, rangeSearch } from "./lib/timerange";
import { Crashed, Missing } from "./shell/Lost";
import { Shell } from "./shell/Shell";
import { rangeAhead } from "./shell/useRange";

interface Context {
  client: QueryClient;
}

/** Every parameter may be left out of a link. */
function optional<T extends object>(search: T): Partial<T> {
  return search;
}

const root = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: Missing,
  errorComponent: Crashed,
});

/** What the runs' page can have a row for, other than each run. */
export const breakdowns = ["job", "instance"] as const;
export const causes = [
  "schedule",
  "misfire",
  "backfill",
  "manual",
  "api",
  "parent",
  "rerun",
  "ping",
  "step",
  "test",
] as const;
export const jobTabs = ["graph", "runs", "schedule", "definition", "versions", "ledger", "audit"] as const;
/** What the page of a workflow's run shows of its steps. */
export const workflowViews = ["graph", "timeline", "steps", "log"] as const;
/** What the page of a workflow shows of its steps: the definition, the last runs, or figures of them. */
export const historyViews = ["graph", "grid", "figures"] as const;
export const settingsTabs = ["profile", "users", "tokens", "secrets", "retention", "about"] as const;
export const alertTabs = ["open", "rules", "channels", "silences"] as const;
export const incidentStates = ["firing", "acknowledged", "snoozed", "resolved"] as const;
export const instanceStates = ["online", "draining", "cordoned", "lost", "incompatible"] as const;
/** Jobs that fire more often than this can be hidden. */
export const paces = ["1m", "5m", "15m", "1h"] as const;
export const levels = ["debug", "info", "warn", "error"] as const;

/** The filters of the jobs' page, of what an address or a saved view says. */
export function jobsSearch(s: RawSearch) {
  const choices: Partial<Record<JobField, string[]>> = {};
  for (const field of jobFields) {
    const values = many(s[field])?.filter((v) => isValue(field, v));
    if (values && values.length > 0) choices[field] = values;
  }
  return optional({
    q: one(s.q),
    ...choices,
    view: oneOf(s.view, jobViews),
    sort: one(s.sort),
    cols: one(s.cols),
  });
}

/** The filters of the runs' page. */
export function runsSearch(s: RawSearch) {
  return optional({
    job: many(s.job)?.filter((j) => refOf(j).group !== ""),
    ...scopeSearch(s),
    status: manyOf(s.status, statuses),
    cause: manyOf(s.cause, causes),
    instance: one(s.instance),
    version: whole(s.version, 1, 1e9),
    again: oneOf(s.again, ["true"] as const),
    error: one(s.error),
    ...rangeSearch(s),
    by: oneOf(s.by, breakdowns),
    sort: one(s.sort),
    cols: one(s.cols),
  });
}

/** The filters of the errors' page. */
export function errorsSearch(s: RawSearch) {
  return optional({
    q: one(s.q),
    ...rangeSearch(s),
    ...scopeSearch(s),
    job: many(s.job)?.filter((j) => refOf(j).group !== ""),
    error: one(s.error),
    incident: one(s.incident),
  });
}

/** The filters of the logs' page. */
export function logsSearch(s: RawSearch) {
  return optional({
    q: one(s.q),
    level: manyOf(s.level, levels),
    job: many(s.job)?.filter((j) => refOf(j).group !== ""),
    group: one(s.group),
    run: one(s.run),
    ...rangeSearch(s),
    tail: oneOf(s.tail, ["true"] as const),
  });
}

const overview = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: (s): RangeSearch & Scope => ({ ...rangeSearch(s), ...scopeSearch(s) }),
  // What the page asks for is asked for while it is loaded, unless nobody is known to be signed in.
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps }) => {
    const { range, reader } = rangeAhead(deps);
    if (client.getQueryData(meKey)) askAhead(client, range, reader, readScope(deps, getPrefs().scope));
  },
  component: lazyRouteComponent(() => import("./pages/overview/OverviewPage")),
});

// One-time links lead here. Signing in has no page of its own: it comes where it is needed.
const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  beforeLoad: () => {
    throw redirect({ to: "/", replace: true });
  },
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: jobsSearch,
  loaderDeps: ({ search: { cols: _, ...list } }) => list,
  loader: ({ context: { client }, deps }) => {
    void askForJobs(client, deps);
  },
  component: lazyRouteComponent(() => import("./pages/jobs/JobsPage")),
});

const newJob = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  validateSearch: (s) => optional({ from: one(s.from), group: one(s.group) }),
  component: lazyRouteComponent(() => import("./pages/editor/EditorPage"), "NewJobPage"),
});

const job = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$group/$name",
  validateSearch: (s) => optional(rangeSearch(s)),
  component: lazyRouteComponent(() => import("./pages/job/JobPage")),
});

const jobTab = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$group/$name/$tab",
  params: {
    parse: (p) => ({ ...p, tab: oneOf(p.tab, jobTabs) ?? "runs" }),
    stringify: (p) => p,
  },
  validateSearch: (s) =>
    optional({
      status: manyOf(s.status, statuses),
      cause: manyOf(s.cause, causes),
      v: whole(s.v, 1, 1e9),
      month: one(s.month),
      ...rangeSearch(s),
      view: oneOf(s.view, historyViews),
    }),
  component: lazyRouteComponent(() => import("./pages/job/JobPage")),
});

const editJob = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$group/$name/edit",
  component: lazyRouteComponent(() => import("./pages/editor/EditorPage"), "EditJobPage"),
});

const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import("./pages/runs/RunsPage")),
});

const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId",
  validateSearch: (s) =>
    optional({
      attempt: whole(s.attempt, 1, 1e6),
      piece: oneOf(s.piece, ["run"] as const) ?? whole(s.piece, 0, 1e5),
      job: one(s.job),
      view: oneOf(s.view, workflowViews),
      step: one(s.step),
      round: whole(s.round, 1, 100),
    }),
  component: lazyRouteComponent(() => import("./pages/run/RunPage")),
});

const comparison = createRoute({
  getParentRoute: () => root,
  path: "/runs/$runId/compare",
  validateSearch: (s) => optional({ to: one(s.to) }),
  component: lazyRouteComponent(() => import("./pages/compare/ComparePage")),
});

const errors = createRoute({
  getParentRoute: () => root,
  path: "/errors",
  validateSearch: errorsSearch,
  component: lazyRouteComponent(() => import("./pages/errors/ErrorsPage")),
});

const schedule = createRoute({
  getParentRoute: () => root,
  path: "/schedule",
  validateSearch: (s) =>
    optional({
      ...rangeSearch(s),
      lanes: oneOf(s.lanes, ["group", "instance", "owner", "tag"] as const),
      sort: oneOf(s.sort, ["next", "busy"] as const),
      slower: oneOf(s.slower, paces),
      closed: many(s.closed),
      group: one(s.group),
      q: one(s.q),
    }),
  component: lazyRouteComponent(() => import("./pages/schedule/TimelinePage")),
});

const load = createRoute({
  getParentRoute: () => root,
  path: "/schedule/load",
  validateSearch: (s) =>
    optional({ group: one(s.group), by: oneOf(s.by, ["slots"] as const), slower: oneOf(s.slower, paces) }),
  component: lazyRouteComponent(() => import("./pages/schedule/LoadPage")),
});

const scheduleCalendar = createRoute({
  getParentRoute: () => root,
  path: "/schedule/calendar",
  validateSearch: (s) =>
    optional({ month: one(s.month), group: one(s.group), all: oneOf(s.all, ["true"] as const) }),
  component: lazyRouteComponent(() => import("./pages/schedule/CalendarPage")),
});

const executors = createRoute({
  getParentRoute: () => root,
  path: "/executors",
  validateSearch: (s) => optional({ q: one(s.q), state: manyOf(s.state, instanceStates) }),
  component: lazyRouteComponent(() => import("./pages/executors/ExecutorsPage")),
});

const executorGroup = createRoute({
  getParentRoute: () => root,
  path: "/executors/$group",
  validateSearch: (s) => optional(rangeSearch(s)),
  component: lazyRouteComponent(() => import("./pages/executors/GroupPage")),
});

const instance = createRoute({
  getParentRoute: () => root,
  path: "/executors/$group/$instance",
  component: lazyRouteComponent(() => import("./pages/executors/InstancePage")),
});

const cluster = createRoute({
  getParentRoute: () => root,
  path: "/cluster",
  component: lazyRouteComponent(() => import("./pages/cluster/ClusterPage")),
});

const calendars = createRoute({
  getParentRoute: () => root,
  path: "/calendars",
  component: lazyRouteComponent(() => import("./pages/calendars/CalendarsPage")),
});

const logs = createRoute({
  getParentRoute: () => root,
  path: "/logs",
  validateSearch: logsSearch,
  component: lazyRouteComponent(() => import("./pages/logs/LogsPage")),
});

/** Which incident is open beside a list, or the messages to which channel. */
const alertsSearch = (s: RawSearch) =>
  optional({
    incident: one(s.incident),
    channel: one(s.channel),
    ...rangeSearch(s),
    state: oneOf(one(s.state), incidentStates),
  });

const alerts = createRoute({
  getParentRoute: () => root,
  path: "/alerts",
  validateSearch: alertsSearch,
  component: lazyRouteComponent(() => import("./pages/alerts/AlertsPage")),
});

const alertTab = createRoute({
  getParentRoute: () => root,
  path: "/alerts/$tab",
  params: {
    parse: (p) => ({ tab: oneOf(p.tab, alertTabs) ?? "open" }),
    stringify: (p) => p,
  },
  validateSearch: alertsSearch,
  component: lazyRouteComponent(() => import("./pages/alerts/AlertsPage")),
});

/** The address in alert messages. */
const incident = createRoute({
  getParentRoute: () => root,
  path: "/alerts/incidents/$incident",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/alerts", search: { incident: params.incident }, replace: true });
  },
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  validateSearch: (s) => optional({ all: oneOf(s.all, ["true"] as const) }),
  component: lazyRouteComponent(() => import("./pages/approvals/ApprovalsPage")),
});

const ledger = createRoute({
  getParentRoute: () => root,
  path: "/ledger",
  validateSearch: (s): RangeSearch & Scope => optional({ ...rangeSearch(s), ...scopeSearch(s) }),
  component: lazyRouteComponent(() => import("./pages/ledger/LedgerPage")),
});

const month = createRoute({
  getParentRoute: () => root,
  path: "/reports/month",
  validateSearch: (s) =>
    optional({ month: one(s.month), group: one(s.group), owner: one(s.owner), tag: one(s.tag) }),
  component: lazyRouteComponent(() => import("./pages/month/MonthPage")),
});

const bulkBackfills = createRoute({
  getParentRoute: () => root,
  path: "/backfills",
  component: lazyRouteComponent(() => import("./pages/backfill/BackfillsPage")),
});

const bulkBackfill = createRoute({
  getParentRoute: () => root,
  path: "/backfills/$backfill",
  component: lazyRouteComponent(() => import("./pages/backfill/BackfillPage")),
});

const why = createRoute({
  getParentRoute: () => root,
  path: "/why",
  validateSearch: (s) => optional({ job: one(s.job), at: one(s.at) }),
  component: lazyRouteComponent(() => import("./pages/why/WhyPage")),
});

const audit = createRoute({
  getParentRoute: () => root,
  path: "/audit",
  validateSearch: (s) =>
    optional({
      q: one(s.q),
      user: one(s.user),
      operation: one(s.operation),
      group: one(s.group),
      ...rangeSearch(s),
    }),
  component: lazyRouteComponent(() => import("./pages/audit/AuditPage")),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings/SettingsPage")),
});

const settingsTab = createRoute({
  getParentRoute: () => root,
  path: "/settings/$tab",
  params: {
    parse: (p) => ({ tab: oneOf(p.tab, settingsTabs) ?? "profile" }),
    stringify: (p) => p,
  },
  validateSearch: (s) => optional({ group: one(s.group) }),
  component: lazyRouteComponent(() => import("./pages/settings/SettingsPage")),
});

const tree = root.addChildren([
  overview,
  signIn,
  jobs,
  newJob,
  job,
  editJob,
  jobTab,
  runs,
  run,
  comparison,
  errors,
  schedule,
  load,
  scheduleCalendar,
  executors,
  executorGroup,
  instance,
  cluster,
  calendars,
  logs,
  alerts,
  alertTab,
  incident,
  approvals,
  ledger,
  month,
  bulkBackfills,
  bulkBackfill,
  why,
  audit,
  settings,
  settingsTab,
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    context: { client },
    basepath: new URL(document.baseURI).pathname,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    scrollRestoration: false,
    parseSearch,
    stringifySearch,
    defaultNotFoundComponent: Missing,
    defaultErrorComponent: Crashed,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
