import { count, list } from "./words";

export const nav = {
  logs: "Logs",
  ledger: "Ledger",
  approvals: "Approvals",
  approvalsHint: (n: number) => `${n} ${n === 1 ? "step waits" : "steps wait"} for your approval`,
  alerts: "Alerts",
  audit: "Audit log",
  settings: "Settings",
  label: "Main",
  crumbs: "Breadcrumb",
  overview: "Overview",
  jobs: "Jobs",
  runs: "Runs",
  errors: "Errors",
  schedule: "Schedule",
  executors: "Executors",
  cluster: "Cluster",
  calendars: "Calendars",
  administration: "Administration",
  open: "Open navigation",
  narrow: "Collapse the navigation",
  widen: "Expand the navigation",
  search: "Search or run…",
  runningNow: (n: string) => `${n} ${n === "1" ? "run" : "runs"} in progress`,
  executorsHint: (lost: number, draining: number, empty: number) =>
    [
      lost > 0 && `${lost} lost`,
      draining > 0 && `${draining} draining`,
      empty > 0 && count(empty, "group without an executor", "groups without an executor"),
    ]
      .filter(Boolean)
      .join(", "),
};

export const health = {
  ok: "Scheduler healthy",
  paused: "Everything is paused",
  degraded: "Scheduler degraded",
  silent: (parts: string[]) => `${list(parts)} ${parts.length === 1 ? "does" : "do"} not answer`,
  unreachable: "Server does not answer",
  shards: (owned: number, all: number) => `${owned} of ${all} shards owned`,
  nodes: (n: number) => count(n, "node", "nodes"),
  part: (name: string) =>
    ({ bus: "NATS", log_store: "Log store", jobs: "Job index", shards: "Shards" })[name] ?? name,
};

export const top = {
  live: "Live",
  polling: "Polling",
  away: "No connection",
  liveOff: "Paused",
  liveTip: "Pause live updates",
  liveOnTip: "Resume live updates",
  zone: "Time zone of the times shown",
  theme: "Theme",
  themeLight: "Light",
  themeDark: "Dark",
  themeSystem: "System",
  language: "Language",
  help: "Keyboard shortcuts",
  settings: "Display",
  myZone: "Local",
};

export const banner = {
  unreachable: "The server does not answer. You see the state of",
  away: {
    bus: "NATS does not answer: until it does, no job runs, and nothing can be changed. You see the last known state.",
    log_store:
      "The log store does not answer: jobs keep running. Their history and logs are shown once it is back.",
  } as Record<string, string>,
  standIn: (since: string, asOf: string) =>
    `The log store does not answer: jobs keep running. Runs and logs since ${since} are read from NATS, as of ${asOf}; the ledger and older data are missing until it is back.`,
  behind: (asOf: string) => `The log store is behind: runs and logs after ${asOf} may be missing.`,
  caughtUpIn: (time: string) => `It will catch up in about ${time}.`,
  notCatchingUp: "It is not catching up yet.",
  held: "Everything is paused: fires are recorded as skipped.",
  heldBy: (who: string) => `By ${who}.`,
  skew: (by: string) =>
    `This machine's clock differs from the server's by ${by}. Times shown are the server's.`,
  resume: "Resume everything",
  update: "The server has a new version of the console.",
  reload: "Reload",
};

export const act = {
  was: "was",
  becomes: "becomes",
  unset: "not set",
  escape: "Press Escape, then Tab, to leave the editor",
  optional: "optional",
  newJob: "New job",
  edit: "Edit",
  run: "Run now",
  runWith: "Run with parameters…",
  backfill: "Backfill a range…",
  pause: "Pause",
  resume: "Resume",
  duplicate: "Duplicate",
  exportYaml: "Copy as YAML",
  copyCurl: "Copy API call",
  remove: "Delete",
  cancel: "Cancel",
  cancelRun: "Cancel run",
  runAgain: "Run again",
  copy: "Copy",
  copied: "Copied",
  close: "Close",
  done: "Done",
  expires: "Expires",
  retry: "Retry",
  undo: "Undo",
  openRun: "Open run",
  more: "More actions",
  clear: "Clear",
  clearFilters: "Clear filters",
  loadMore: "Load more",
  copyDetails: "Copy details",
  viewRuns: "View runs",
  selectAll: "Select all",
  select: (name: string) => `Select ${name}`,
  download: "Download log",
  columns: "Columns",
};

export const done = {
  starts: (job: string, seconds: number) => `${job} starts in ${seconds} s`,
  started: (job: string) => `Run of ${job} started`,
  paused: (job: string) => `${job} paused`,
  resumed: (job: string) => `${job} resumed`,
  deleted: (job: string) => `${job} deleted`,
  cancelling: "The run is being cancelled",
  saved: (job: string, version: number) => `${job} saved as v${version}`,
  warned: "Saved, but check this",
  failed: {
    start: "The run was not started",
    pause: "The job was not paused",
    resume: "The job was not resumed",
    cancel: "The run was not cancelled",
    retry: "The step was not retried",
    other: "The action failed",
  },
};

export const error = {
  title: "The data could not be loaded",
  codes: {
    unreachable: "The server does not answer.",
    unavailable: "A part of the system does not answer. The console retries.",
    internal: "The server had an internal error.",
    not_found: "This does not exist.",
    forbidden: "You do not have permission to do this.",
    unauthenticated: "You are not signed in.",
    conflict: "The object's current state does not allow this.",
    precondition_failed: "Somebody has changed it in the meantime. Reload, and try again.",
    invalid: "The request is not valid.",
  } as Record<string, string>,
  badDuration: "Enter a duration, such as 90s, 5m or 2h",
  requestId: (id: string) => `Request ${id}`,
  notAllowed: "You do not have permission to see this",
  roleNeeded: (role: string, group?: string) =>
    group === "*"
      ? `You need the role ${role}, everywhere.`
      : `You need the role ${role}${group ? ` in ${group}` : ""}.`,
  gone: "This does not exist",
  page: "This page does not exist",
  pageHint: "The address may be mistyped, or the object may have been deleted.",
  crashed: "This page has crashed",
  unloaded: "This page cannot be loaded",
  unloadedHint: "The server does not answer, or was upgraded. The page opens when it answers.",
  reload: "Reload the page",
};

export const signIn = {
  title: "Sign in",
  user: "User",
  password: "Password",
  submit: "Sign in",
  out: "Sign out",
  over: "Your session has ended. Sign in to continue where you were.",
  wrong: "User name or password is wrong.",
  locked: "Too many failed sign-ins. Try again later.",
  at: (provider: string) => `Sign in at ${provider}`,
  refused: {
    provider: "The provider did not sign you in, or its answer could not be verified. Try again.",
    stale: "That sign-in was started elsewhere, or too long ago. Try again.",
    no_access: "None of your groups has permissions here. Ask an administrator.",
    disabled: "An administrator has disabled this user.",
    name_taken: "Another user here has your name. Ask an administrator.",
    away: "A part of the system does not answer. Try again.",
  } as Record<string, string>,
  noAdministrator: "There is no administrator yet. The link to create one is in the server's log.",
  invited: (user: string) => `Choose a password for ${user}`,
  administrator: "Create the administrator",
  rule: "At least 12 characters.",
  choose: "Set password and sign in",
  used: "This link has been used, or has expired.",
  toSignIn: "Go to sign-in",
  account: "Account",
  roles: { viewer: "Viewer", operator: "Operator", editor: "Editor", admin: "Admin" } as Record<
    string,
    string
  >,
  needs: "You do not have permission to do this here",
};
