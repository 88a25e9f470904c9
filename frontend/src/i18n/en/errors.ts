import { count } from "./words";

/** Failures grouped by cause. */
export const errors = {
  find: "Find in messages",
  none: "Nothing failed in this range",
  noneHint: "Failed, timed-out and lost attempts are grouped here by their message.",
  noMatch: "No error matches",
  hint: (groups: number, attempts: string) =>
    `${count(groups, "error", "errors")}, ${attempts} failed ${attempts === "1" ? "attempt" : "attempts"}`,
  most: (n: number) => `Only the ${n} most frequent are listed. Narrow the range to see others.`,
  bars: (n: number, peak: number) =>
    `${count(n, "failed attempt", "failed attempts")} in the range, at most ${peak} in one bar`,
  seen: (first: string, last: string) => `First ${first}, last ${last}`,
  versions: (list: string) => `${list.includes(",") ? "Versions" : "Version"} ${list}`,
  overTime: "Over time",
  attempts: "Attempts",
  lastSeen: "Last seen",
  since: (first: string) => `since ${first}`,
  andMore: (n: number) => `and ${n} more`,
  lastRun: "Last run",
  exit: (code: string) => `exit code ${code}`,
  noIncident: "No incident",
  toRule: "Create a rule",
  alike: (n: string, since: string) => `${n} attempts failed the same way since ${since}`,
};
