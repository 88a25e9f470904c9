import { count } from "./words";

export const nav = {
  logs: "Logs",
  ledger: "Ledger",
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
  narrow: "Narrow the navigation",
  widen: "Widen the navigation",
  search: "Search or run…",
  runningNow: (n: number) => count(n, "run in flight", "runs in flight"),
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
  degraded: "Not everything answers",
  unreachable: "Server does not answer",
  shards: (owned: number, all: number) => `${owned} of ${all} shards owned`,
  nodes: (n: number) => count(n, "node", "nodes"),
  part: (name: string) => ({ bus: "Bus", log_store: "Log store", jobs: "Job index" })[name] ?? name,
};

export const top = {
  live: "Live",
  polling: "Polling",
  away: "No connection",
  liveOff: "Paused",
  liveTip: "Pause live updates",
  liveOnTip: "Resume live updates",
  zone: "Time zone of instants",
  theme: "Theme",
  themeLight: "Light",
  themeDark: "Dark",
  themeSystem: "As the system",
  language: "Language",
  help: "Keyboard shortcuts",
  settings: "Display",
  myZone: "Mine",
};

export const banner = {
  unreachable: "The server does not answer. What you see is as of",
  away: {
    bus: "NATS does not answer: until it does, nothing can be changed, and nothing is run. What you see is as it was before.",
    log_store:
      "The log store does not answer: jobs go on running, and their history and logs are shown once it is back.",
  } as Record<string, string>,
  standIn: (since: string, asOf: string) =>
    `The log store does not answer: jobs go on running. Runs and logs since ${since} are read from NATS, as of ${asOf}; the ledger and what is older wait for it.`,
  behind: (asOf: string) => `The log store is behind: what came after ${asOf} may be missing.`,
  caughtUpIn: (time: string) => `It will have caught up in about ${time}.`,
  notCatchingUp: "It is not catching up as yet.",
  held: "Everything is paused: fires are recorded as skipped.",
  heldBy: (who: string) => `By ${who}.`,
  skew: (by: string) =>
    `This machine's clock differs from the server's by ${by}. Times shown are the server's.`,
  resume: "Resume everything",
  update: "A new version is on the server.",
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
  cancelling: "The run is being ended",
  saved: (job: string, version: number) => `${job} saved as v${version}`,
  failed: "That did not work",
};

export const error = {
  title: "This could not be loaded",
  codes: {
    unreachable: "The server does not answer.",
    unavailable: "A part of the system is away. It will be asked again.",
    internal: "The server had a fault of its own.",
    not_found: "There is no such thing here.",
    forbidden: "You may not do this.",
    unauthenticated: "Nobody is signed in.",
    conflict: "It is not in the state that this needs.",
    precondition_failed: "Somebody has changed it in the meantime.",
    invalid: "The request was wrong.",
  } as Record<string, string>,
  badDuration: "A length of time, such as 90s, 5m or 2h",
  requestId: (id: string) => `Request ${id}`,
  notAllowed: "This is not for you to see",
  roleNeeded: (role: string, group?: string) =>
    group === "*"
      ? `It takes the role ${role}, everywhere.`
      : `It takes the role ${role}${group ? ` in ${group}` : ""}.`,
  gone: "There is no such thing here",
  page: "There is no such page",
  pageHint: "The address may be mistyped, or the thing may be gone.",
  crashed: "This page has a fault",
  reload: "Reload the page",
};

export const signIn = {
  title: "Sign in",
  user: "User",
  password: "Password",
  submit: "Sign in",
  out: "Sign out",
  over: "Your session has ended. Sign in, and go on where you were.",
  wrong: "User name or password is wrong.",
  locked: "Too many sign-ins have failed. Wait a while before the next.",
  at: (provider: string) => `Sign in at ${provider}`,
  refused: {
    provider: "The provider did not sign you in, or what it said is not to be believed. Try again.",
    stale: "That sign-in was begun elsewhere, or too long ago. Try again.",
    no_access: "You are in no group that may do something here. Ask an administrator.",
    disabled: "An administrator has disabled this user.",
    name_taken: "There is another user of your name here. Ask an administrator.",
    away: "A part of the system does not answer. Try again.",
  } as Record<string, string>,
  noAdministrator: "There is no administrator yet. The link to create one is in the server's log.",
  invited: (user: string) => `Choose a password for ${user}`,
  administrator: "Create the administrator",
  rule: "At least 12 characters.",
  choose: "Set password and sign in",
  used: "This link has been used, or has expired.",
  toSignIn: "To sign-in",
  account: "Account",
  roles: { viewer: "Viewer", operator: "Operator", editor: "Editor", admin: "Admin" } as Record<
    string,
    string
  >,
  local: "This machine",
  needs: "You may not do this here",
};
