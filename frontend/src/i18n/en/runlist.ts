import { count } from "./words";

export const runlist = {
  title: "Runs",
  filterJob: "Job, as group/name",
  status: "Status",
  cause: "Trigger",
  group: "Group",
  instance: "Executor",
  none: "No run matches",
  noneHint: "Widen the range, or clear a filter.",
  retriedHint: "The runs that failed this way may have succeeded at a later attempt.",
  noneYet: "Nothing has run in this range",
  noneYetHint: "Runs appear here when jobs fire, or when somebody runs one.",
  histogram: (runs: number, absent: number) =>
    `${count(runs, "run", "runs")} in range${absent > 0 ? `, ${absent.toLocaleString("en-GB")} skipped or missed` : ""}`,
  newRuns: (n: number) => count(n, "new run", "new runs"),
  attempt: (n: number) => `Attempt ${n}`,
  end: "No more runs",
  facets: "Filter the runs",
  idle: "This filter does not apply to the table shown",
  triedAgain: "Tried again",
  moreValues: (n: number) => `${n} more`,
  /** Below a list that is sorted by something else than its fires. */
  sortedHint: (n: number, all: boolean) =>
    all
      ? "All runs in the range, in this order, without live updates. Sort by Scheduled to see the newest first."
      : `The first ${n} runs in this order. Narrow the range to see others.`,
  bulk: {
    selected: (n: number) => `${n} selected`,
    allMatching: (n: number) => `Select all ${n.toLocaleString("en-GB")} matching`,
    copyIds: "Copy ids",
    sameVersion: "That of each run",
    ofJobs: (runs: number, jobs: number) => `${count(runs, "run", "runs")} of ${count(jobs, "job", "jobs")}`,
    ranAgain: (run: string) => `run again already, as ${run}`,
    twice: (n: number) => `Include ${count(n, "run that was", "runs that were")} run again already`,
    begun: (n: number, bad: number) =>
      `${count(n, "run", "runs")} started${bad > 0 ? `, ${bad} refused` : ""}. Their progress is below.`,
    verbs: { rerun: "Run again", cancel: "Cancel", mark: "Mark as…" },
    ask: {
      rerun: (n: number) => `Run ${count(n, "run", "runs")} again`,
      cancel: (n: number) => `Cancel ${count(n, "run", "runs")}`,
      mark: (n: number) => `Mark ${count(n, "run", "runs")}`,
    },
  },
  byCause: "Errors by cause",
  breakdown: {
    label: "Rows",
    none: "Runs",
    job: "Job",
    instance: "Executor",
    hints: {
      job: "Runs that ended in the range. Only group and job narrow this table.",
      instance: "Attempts that ended in the range. Only the group narrows this table.",
    },
  },
};
