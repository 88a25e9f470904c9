import { count } from "./words";

/** What was owed against what was done. */
export const ledger = {
  hint: "Every fire that was due, computed again from the schedules and compared with the history.",
  fires: "Scheduled fires due",
  soFar: (jobs: number) => `of the first ${count(jobs, "job", "jobs")}, below`,
  ran: "Ran",
  absent: "Skipped or missed",
  wrong: "Discrepancies",
  none: "No fires were due in this range",
  noneHint: "Jobs with a schedule have a row for each day.",
  allWell: "Every fire is accounted for.",
  allWellSoFar: "Every fire of the jobs below is accounted for. Load more to check the others.",
  findings: (n: number) => count(n, "discrepancy", "discrepancies"),
  newest: (n: number) => `the newest ${n}`,
  found: "Found by the continuous check",
  healedAt: (when: string) => `healed ${when}`,
  notHealed: "not healed",
  held: (n: number) => `${count(n, "job waits", "jobs wait")} for a newer server`,
  heldBy: (version: number) =>
    `A newer server saved version ${version}. It fires again once all servers can read it.`,
  decided: "Decided until",
  job: "Job",
  days: "Days",
  failed: "of them failed",
  reason: "Reason",
  fire: "Fire",
  late: "Fired late",
  outcomes: {
    ran: "Ran",
    caught_up: "Caught up",
    pending: "Pending",
    skipped: "Skipped",
    missed: "Missed",
    undecided: "Undecided",
    unjudged: "Cannot be checked",
    discrepancy: "Discrepancy",
  },
  day: (day: string, fires: number, wrong: number) =>
    `${day}: ${count(fires, "fire", "fires")}${wrong > 0 ? `, ${count(wrong, "discrepancy", "discrepancies")}` : ""}`,
  outcome: "Outcome",
};
