import type { LogLine } from "@/api/schema.gen";

/** What a log says of time: instants, times of day, and how long something took. */
const time =
  /\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?|\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ns|µs|us|ms|s)\b/g;

/** The lines of a log as a text that is the same however the clock stood: two of them can be compared. */
export function timeless(lines: Pick<LogLine, "text">[]): string {
  return lines.map(({ text }) => text.replace(time, "⋯")).join("\n");
}
