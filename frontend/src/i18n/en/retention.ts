import { count } from "./words";

/** How long history is kept. */
export const retention = {
  title: "How long history is kept",
  hint: "The rule for a job comes first, then that for its group, then the default. Lengths are such as 12h, 30d or 365d.",
  changed: "Changed",
  scope: "For",
  all: "All jobs",
  group: "Group",
  job: "Job",
  runs: "Runs",
  logs: "Log lines",
  asWider: "as the wider rule",
  addGroup: "Rule for a group",
  addJob: "Rule for a job",
  remove: (name: string) => `Remove the rule for ${name || "nothing"}`,
  classes: (days: string) =>
    `Lines go by whole days (UTC), and lines of one day are stored apart by these lengths: ${days} days. A rule between two goes with the longer one until all of its day allow it.`,
  effect: "Effect on the disk",
  now: "There is",
  frees: "Goes at once",
  expected: "In the long run",
  runsN: (n: string) => `${n} runs`,
  linesN: (n: string) => `${n} lines`,
  oldest: "Oldest run",
  estimate: "An estimate from the present load.",
  save: "Save retention",
  discard: "Discard",
  ask: "Apply these rules?",
  askFrees: (runs: string, lines: string, disk: string) =>
    `${runs} and ${lines} (${disk}) are deleted within the minute. This cannot be undone.`,
  askNone: "Nothing is deleted now.",
  note: "Why",
  saved: "Retention saved",
  unsaved: "Not saved yet",
  rules: (n: number) => count(n, "rule", "rules"),
};
