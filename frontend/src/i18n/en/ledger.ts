import { count } from "./words";

/** What was owed against what was done. */
export const ledger = {
  hint: "Every fire that schedules owed, computed again and compared with the history.",
  fires: "Fires owed",
  ran: "Ran",
  absent: "Skipped or missed",
  wrong: "Discrepancies",
  none: "No fires were owed in this range",
  noneHint: "Jobs that fire by a schedule have a row for each day.",
  allWell: "Every fire is accounted for.",
  findings: (n: number) => `${count(n, "fire contradicts", "fires contradict")} the promise`,
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
  late: "Late",
  outcomes: {
    ran: "Ran",
    caught_up: "Caught up",
    pending: "Pending",
    skipped: "Skipped",
    missed: "Missed",
    undecided: "Undecided",
    unjudged: "Not judged",
    discrepancy: "Discrepancy",
  },
  day: (day: string, fires: number, wrong: number) =>
    `${day}: ${count(fires, "fire", "fires")}${wrong > 0 ? `, ${wrong} wrong` : ""}`,
  outcome: "Outcome",
};
