import type { Calendar, Job } from "@/api/schema.gen";
import { isJob } from "./jobdoc";
import { exactNumbers, exactValue } from "./yamlnumbers";

/** One document of a file. */
export type Manifest =
  | { kind: "job"; name: string; line: number; doc: Job }
  | { kind: "calendar"; name: string; line: number; doc: Calendar }
  /** What cannot be read; without a problem, what is neither. */
  | { kind: "wrong"; name: string; line: number; problem?: string };

/** Reads a file of YAML or JSON documents: jobs and calendars, as `carillon apply` takes them. */
export async function readManifests(text: string): Promise<Manifest[]> {
  const { parseAllDocuments, LineCounter } = await import("yaml");
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, ...exactNumbers });
  const out: Manifest[] = [];
  for (const document of Array.isArray(parsed) ? parsed : []) {
    const [problem] = document.errors;
    const line = lines.linePos(document.contents?.range?.[0] ?? document.range[0]).line;
    if (problem) {
      const at = problem.linePos?.[0].line ?? line;
      out.push({ kind: "wrong", name: "", line: at, problem: oneLine(problem.message) });
      continue;
    }
    const value: unknown = exactValue(document);
    if (value === null || value === undefined) continue; // only a comment
    // A file may be one list of documents too, as an export in JSON is.
    for (const v of Array.isArray(value) ? value : [value]) out.push(manifestOf(v, line));
  }
  return out;
}

function manifestOf(value: unknown, line: number): Manifest {
  if (isJob(value)) return { kind: "job", name: value.job, line, doc: value };
  if (isCalendar(value)) return { kind: "calendar", name: value.calendar, line, doc: value };
  return { kind: "wrong", name: "", line };
}

/** What a parser says is wrong, without the place and the lines around it, which it adds. */
function oneLine(message: string): string {
  return (message.split("\n")[0] ?? "").replace(/ at line \d+, column \d+:?$/, "");
}

function isCalendar(value: unknown): value is Calendar {
  return (
    typeof value === "object" && value !== null && "calendar" in value && typeof value.calendar === "string"
  );
}
