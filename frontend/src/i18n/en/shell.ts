import { count } from "./words";

export const nav = {
  label: "Main",
  overview: "Overview",
  jobs: "Jobs",
  runs: "Runs",
  schedule: "Schedule",
  executors: "Executors",
  cluster: "Cluster",
  calendars: "Calendars",
  administration: "Administration",
  open: "Open navigation",
  search: "Search or run…",
  runningNow: (n: number) => count(n, "run in flight", "runs in flight"),
  groupsEmpty: (n: number) => count(n, "group without an executor", "groups without an executor"),
};

export const health = {
  ok: "Scheduler healthy",
  degraded: "Not everything answers",
  unreachable: "Server does not answer",
  shards: (owned: number, all: number) => `${owned} of ${all} shards owned`,
  nodes: (n: number) => count(n, "node", "nodes"),
  part: (name: string) => ({ bus: "Bus", log_store: "Log store", jobs: "Job index" })[name] ?? name,
};

export const top = {
  live: "Live",
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
  held: "Everything is paused: fires are recorded as skipped.",
  heldBy: (who: string) => `By ${who}.`,
  skew: (by: string) =>
    `This machine's clock differs from the server's by ${by}. Times shown are the server's.`,
  resume: "Resume everything",
  update: "A new version is on the server.",
  reload: "Reload",
};

export const act = {
  newJob: "New job",
  edit: "Edit",
  run: "Run now",
  runWith: "Run with parameters…",
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
};

export const done = {
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
  requestId: (id: string) => `Request ${id}`,
  page: "There is no such page",
  pageHint: "The address may be mistyped, or the thing may be gone.",
  crashed: "This page has a fault",
  reload: "Reload the page",
};

export const palette = {
  label: "Search or run",
  placeholder: "Jobs, pages, a run id…",
  jobs: "Jobs",
  actions: (job: string) => `Actions on ${job}`,
  pages: "Go to",
  run: "Run",
  nothing: "Nothing matches",
  failedRuns: "Show failed runs",
};

export const shortcuts = {
  title: "Keyboard shortcuts",
  global: "Everywhere",
  lists: "In lists",
  log: "In a log",
  palette: "Search or run",
  filter: "Go to the filter",
  go: "Go to Overview, Jobs, Runs, Schedule, Executors, Cluster",
  newJob: "New job",
  refresh: "Refresh",
  live: "Live on or off",
  zone: "Next time zone",
  theme: "Light or dark",
  help: "This list",
  close: "Close the topmost layer",
  move: "Next or previous row",
  open: "Open",
  select: "Select",
  run: "Run now",
  pause: "Pause or resume",
  edit: "Edit",
  follow: "Follow the end",
  find: "Find",
  findNext: "Next or previous match",
  ends: "Beginning or end",
  letters: "Single-letter shortcuts",
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
