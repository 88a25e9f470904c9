import { count } from "./words";

/** How the list of jobs is filtered, sorted and changed. */
export const joblist = {
  placeholder: "Name, handler, owner:lin…",
  fields: {
    group: "Group",
    owner: "Owner",
    last: "Last result",
    type: "Type",
    tag: "Tag",
    state: "State",
    schedule: "Schedule",
    handler: "Handler",
    fires: "Fires within",
    changed: "Changed within",
  },
  none: { owner: "Nobody", tag: "No tag", handler: "No handler", last: "Never ran" } as Record<
    string,
    string
  >,
  states: { active: "Active", paused: "Paused", manual: "Manual only", ended: "Ended" } as Record<
    string,
    string
  >,
  schedules: {
    cron: "Repeat",
    fixed_rate: "Interval",
    fixed_delay: "After finish",
    once: "Once",
    manual: "Manual",
  } as Record<string, string>,
  spans: {
    "10m": "10 minutes",
    "1h": "1 hour",
    "24h": "24 hours",
    "168h": "7 days",
    "720h": "30 days",
  } as Record<string, string>,
  more: "Filter",
  not: (value: string) => `not ${value}`,
  anyOf: (n: number) => `any of ${n}`,
  turn: "All but these",
  nothing: "Nothing to choose from",
  sort: "Sort",
  sorts: {
    attention: "Needs attention first",
    name: "Name",
    next: "Next fire",
    "-last": "Last run",
    success: "Least successful",
    "-p95": "Slowest",
    owner: "Owner",
    "-changed": "Last changed",
  } as Record<string, string>,
  nobody: "—",
  pausedBy: (who: string, why: string) => `Paused by ${who}${why ? `: ${why}` : ""}`,
  pauseWith: "Pause until…",
  tagged: "Tags and owner",
  export: "Export",
  exported: (n: number) => `${count(n, "job", "jobs")} exported`,
  edit: (n: number) => `Change ${count(n, "job", "jobs")}`,
  addTags: "Add tags",
  removeTags: "Remove tags",
  tagsHint: "Separated by spaces.",
  setOwner: "Owner",
  ownerHint: "Empty leaves each with the owner that it has.",
  alreadySo: "so already",
};
