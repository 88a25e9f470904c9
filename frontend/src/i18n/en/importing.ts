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
  hint: "Nothing is saved before you have seen what would happen to each job.",
  format: "Format",
  file: "Open a file…",
  zone: "Time zone",
  groupElse: "Executor group of jobs whose own is not in the dump",
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
  outcome: "Would be",
  name: "Name",
  line: "Line",
  number: "No.",
  why: "What changes, or why not",
  saved: "Saved",
  outcomes: {
    created: "Created",
    changed: "Changed",
    unchanged: "Unchanged",
    conflict: "Conflict",
    skipped: "Skipped",
    broken: "Refused",
  },
  noDocument: "It is neither a job nor a calendar",
  conflictWhy: "A job of this name is here already, and was not imported from there or was edited since.",
  overwrite: (n: number) => `Overwrite ${count(n, "job that was", "jobs that were")} made or edited here`,
  dry: (rows: Counted[]) =>
    rows.length === 0
      ? "There is no document in it."
      : `${tally(rows, [
          ["created", "to create"],
          ["changed", "to change"],
          ["unchanged", "unchanged"],
          ["conflict", "in conflict"],
          ["skipped", "skipped"],
          ["broken", "refused"],
        ])}. Nothing has been saved yet.`,
  done: (rows: Counted[]) => {
    const refused = rows.filter((r) => r.outcome === "broken").length;
    return `${rows.filter((r) => r.saved).length} saved${refused > 0 ? `, ${refused} refused` : ""}.`;
  },
};
