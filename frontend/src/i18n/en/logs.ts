import { count } from "./words";

/** The search over what all runs print. */
export const logs = {
  filter: 'Words, "an exact phrase", level:error, job:group/name…',
  level: "Level",
  found: (n: number, more: boolean) =>
    `${n.toLocaleString("en-GB")}${more ? "+" : ""} ${n === 1 && !more ? "line" : "lines"}`,
  none: "No line matches",
  noneHint:
    "A line must contain every word, in any order and case. Widen the range, use fewer words, or add * to part of a word.",
  onlyJob: "Only this job",
  around: "Lines around it",
  piece: (i: number) => `Piece ${i}`,
  export: "Export",
  formats: { csv: "CSV", ndjson: "NDJSON", txt: "Plain text" },
  saved: (n: string) => `${n} lines saved`,
  savedSome: "There are more: narrow the range, or choose fewer jobs.",
  end: "No more lines",
  chart: (n: number, errors: number, warnings: number) =>
    `${count(n, "line", "lines")} over time, ${count(errors, "error", "errors")}, ${count(warnings, "warning", "warnings")}`,
  others: "Others",
  chartHint: "Lines by the fire time of their runs. Click a bar, or drag over several, to narrow the range.",
  countedSince: (at: string) =>
    `Lines are counted back to ${at}. To count all, choose a shorter range or more filters.`,
  uncounted: "Not counted",
  tail: "Live tail",
  tailHint: "Lines as they are printed, at most 500 a second.",
  rate: (n: number, shown: number) =>
    shown < n
      ? `${n.toLocaleString("en-GB")} lines/s, ${shown} shown`
      : `${n.toLocaleString("en-GB")} lines/s`,
  dropped: "Some lines are missing: they arrived faster than they could be read.",
};
