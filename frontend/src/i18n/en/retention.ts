import { count } from "./words";

/** How long history is kept. */
export const retention = {
  title: "How long history is kept",
  hint: "A rule for a job takes precedence over a rule for its group, and both over the default. Write durations as 12h, 30d or 365d.",
  changed: "Changed",
  scope: "Applies to",
  all: "All jobs",
  group: "Group",
  job: "Job",
  runs: "Runs",
  logs: "Log lines",
  asWider: "inherited",
  addGroup: "Rule for a group",
  addJob: "Rule for a job",
  remove: (name: string) => `Remove the rule for ${name || "nothing"}`,
  classes: (days: string) =>
    `Log lines are deleted by whole days (UTC). Lines of one day are stored in classes of ${days} days. If a rule is between two classes, its lines are stored in the longer one, until all rules of that class allow to delete the day.`,
  effect: "Effect on the disk",
  now: "Stored now",
  frees: "Deleted at once",
  expected: "Long-term estimate",
  runsN: (n: string) => `${n} runs`,
  linesN: (n: string) => `${n} lines`,
  oldest: "Oldest run",
  estimate: "An estimate from the current load.",
  save: "Save retention",
  discard: "Discard",
  ask: "Apply these rules?",
  askFrees: (runs: string, lines: string, disk: string) =>
    `${runs} and ${lines} (${disk}) are deleted within a minute. This cannot be undone.`,
  askNone: "Nothing is deleted now.",
  note: "Reason",
  saved: "Retention saved",
  unsaved: "Not saved yet",
  rules: (n: number) => count(n, "rule", "rules"),
};
