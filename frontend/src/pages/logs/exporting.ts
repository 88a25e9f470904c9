import { type LogFilter, logPage } from "@/api/logs";
import type { LogHit } from "@/api/schema.gen";
import { plainText } from "@/lib/ansi";
import { saveFile } from "@/lib/saving";

export const formats = ["csv", "ndjson", "txt"] as const;
export type LogFormat = (typeof formats)[number];

/** So many lines are saved at most; a run's own page has the whole of its log. */
export const mostSaved = 50_000;

const types: Record<LogFormat, string> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  txt: "text/plain",
};
const columns = [
  "at",
  "job",
  "run_id",
  "step",
  "workflow_run_id",
  "attempt",
  "broadcast_index",
  "seq",
  "level",
  "output",
  "text",
] as const;

/** Saves the lines that a search finds as a file, and tells how many those are, and whether there are more. */
export async function exportLines(
  filter: LogFilter,
  format: LogFormat,
): Promise<{ lines: number; more: boolean }> {
  const lines: LogHit[] = [];
  let cursor: string | undefined;
  do {
    const page = await logPage(filter, 1000, cursor);
    lines.push(...page.items);
    cursor = page.next;
  } while (cursor !== undefined && lines.length < mostSaved);
  saveFile(`logs.${format}`, write(lines, format), types[format]);
  return { lines: lines.length, more: cursor !== undefined };
}

/** Lines as a file has them: all that is known of each, or as somebody would read them. */
export function write(lines: LogHit[], format: LogFormat): string {
  if (format === "ndjson") return lines.map((l) => `${JSON.stringify(l)}\n`).join("");
  if (format === "txt") {
    return lines
      .map(
        (l) => `${l.at} ${l.level.padEnd(5)} ${l.job}${l.step ? ` ${l.step}:` : ""} ${plainText(l.text)}\n`,
      )
      .join("");
  }
  const rows = lines.map((l) => columns.map((c) => cell(c === "text" ? plainText(l.text) : l[c])).join(","));
  return `${[columns.join(","), ...rows].join("\r\n")}\r\n`;
}

/** A value for a spreadsheet, which must not take what a job printed for a formula. */
function cell(value: string | number | undefined): string {
  const text = String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
