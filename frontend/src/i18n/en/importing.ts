import { count, list } from "./words";

interface Counted {
  outcome: string;
  saved?: boolean;
}

const tally = (rows: Counted[], words: [string, string][]) =>
  list(
    words
      .map(([outcome, word]) => [rows.filter((r) => r.outcome === outcome).length, word] as const)
      .filter(([n]) => n > 0)
      .map(([n, word]) => `${n} ${word}`),
  );

/** Bringing jobs in from files. */
export const importing = {
  title: "Import jobs",
  hint: "First check what would happen to each job. Nothing is saved until you confirm.",
  format: "Format",
  file: "Open a file…",
  zone: "Time zone",
  groupElse: "Executor group for jobs whose executor is not in the dump",
  texts: {
    yaml: "Jobs and calendars, several separated by ---",
    crontab: "The crontab",
    "xxl-job": "The dump of the tables xxl_job_group and xxl_job_info",
  },
  check: "Check",
  back: "Back",
  go: (n: number, jobs: boolean) =>
    `Save ${jobs ? count(n, "job", "jobs") : count(n, "document", "documents")}`,
  note: "import",
  outcome: "Result",
  name: "Name",
  line: "Line",
  number: "No.",
  why: "Changes, or reason",
  saved: "Saved",
  outcomes: {
    created: "Created",
    changed: "Changed",
    unchanged: "Unchanged",
    conflict: "Conflict",
    skipped: "Skipped",
    broken: "Refused",
    leftover: "Left over",
  },
  noDocument: "This is neither a job nor a calendar",
  conflictWhy:
    "A job with this name exists already. It was not imported from this source, or was edited since.",
  leftoverWhy:
    "An earlier import made this job, and this one makes it no more. It still fires; delete it if it is not wanted.",
  overwrite: (n: number) => `Overwrite ${count(n, "job that was", "jobs that were")} created or edited here`,
  dry: (rows: Counted[]) =>
    rows.length === 0
      ? "There is nothing to import."
      : `${tally(rows, [
          ["created", "to create"],
          ["changed", "to change"],
          ["unchanged", "unchanged"],
          ["conflict", "in conflict"],
          ["skipped", "skipped"],
          ["broken", "refused"],
          ["leftover", "left over from an earlier import"],
        ])}. Nothing has been saved yet.`,
  paused: "Save as paused: no imported job fires until somebody resumes it",
  workflows: "Make workflows of child jobs: each job with a schedule and children becomes one",
  done: (rows: Counted[]) => {
    const refused = rows.filter((r) => r.outcome === "broken").length;
    return `${rows.filter((r) => r.saved).length} saved${refused > 0 ? `, ${refused} refused` : ""}.`;
  },
};
