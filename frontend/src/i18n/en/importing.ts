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
  hint: "Nothing is saved before you have seen what would become of each.",
  format: "Format",
  file: "Open a file…",
  zone: "Time zone",
  yamlText: "Jobs and calendars, several parted by ---",
  crontabText: "The crontab",
  check: "Check",
  back: "Back",
  go: (n: number) => `Save ${count(n, "document", "documents")}`,
  note: "import",
  outcome: "Would be",
  name: "Name",
  line: "Line",
  why: "What changes, or why not",
  saved: "Saved",
  outcomes: {
    created: "Created",
    changed: "Changed",
    unchanged: "Unchanged",
    skipped: "Skipped",
    broken: "Refused",
  },
  dry: (rows: Counted[]) =>
    rows.length === 0
      ? "There is no document in it."
      : `${tally(rows, [
          ["created", "to create"],
          ["changed", "to change"],
          ["unchanged", "unchanged"],
          ["skipped", "skipped"],
          ["broken", "refused"],
        ])}. Nothing has been saved yet.`,
  done: (rows: Counted[]) => {
    const refused = rows.filter((r) => r.outcome === "broken").length;
    return `${rows.filter((r) => r.saved).length} saved${refused > 0 ? `, ${refused} refused` : ""}.`;
  },
};
