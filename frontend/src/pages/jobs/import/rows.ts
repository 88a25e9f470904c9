import { putCalendar } from "@/api/cluster";
import { applyJob, type CrontabOptions, readCrontab } from "@/api/importing";
import { problemOf } from "@/api/problem";
import { type Manifest, readManifests } from "@/lib/manifests";

export type Outcome = "created" | "changed" | "unchanged" | "skipped" | "broken";

/** One document or line, and what would become of it, or did. */
export interface Row {
  name: string;
  line: number;
  outcome: Outcome;
  note: string;
  /** Absent for what cannot be saved. */
  manifest?: Manifest;
  saved?: boolean;
}

export interface Source extends CrontabOptions {
  kind: "yaml" | "crontab";
  text: string;
}

/** Whether a file is most likely a crontab or a file of documents. */
export function readable(name: string, text: string): "yaml" | "crontab" {
  if (/\.(ya?ml|json)$/i.test(name)) return "yaml";
  return /^\s*(job|calendar)\s*:/m.test(text) || /^\s*[[{]/.test(text) ? "yaml" : "crontab";
}

/** Says what saving would do, one after the other, since a file may well have a thousand. */
export async function check(source: Source, note: string): Promise<Row[]> {
  const rows: Row[] = source.kind === "yaml" ? await documentRows(source.text) : await crontabRows(source);
  for (const row of rows) {
    if (row.manifest?.kind !== "job") continue;
    try {
      const answer = await applyJob(row.manifest.doc, true, note);
      row.outcome = answer.result;
      row.note ||= answer.changes.map((c) => c.field).join(", ");
      for (const w of answer.warnings ?? []) row.note = `${w.field}: ${w.reason}`;
    } catch (error) {
      refuse(row, error);
    }
  }
  return rows;
}

/** Saves what would be created or changed, calendars first, since jobs may name them. */
export async function apply(rows: Row[], note: string): Promise<Row[]> {
  const done = rows.map((r) => ({ ...r }));
  const order = [...done].sort(
    (a, b) => Number(b.manifest?.kind === "calendar") - Number(a.manifest?.kind === "calendar"),
  );
  for (const row of order) {
    if (!row.manifest || (row.outcome !== "created" && row.outcome !== "changed")) continue;
    try {
      if (row.manifest.kind === "job") await applyJob(row.manifest.doc, false, note);
      else if (row.manifest.kind === "calendar") await putCalendar(row.manifest.doc, "any");
      row.saved = true;
    } catch (error) {
      refuse(row, error);
    }
  }
  return done;
}

function refuse(row: Row, error: unknown): void {
  const problem = problemOf(error);
  row.outcome = "broken";
  row.note =
    problem.errors?.map((e) => `${e.field} ${e.reason}`).join("; ") ?? problem.detail ?? problem.title;
}

async function documentRows(text: string): Promise<Row[]> {
  return (await readManifests(text)).map((m) => ({
    name: m.name,
    line: m.line,
    // A calendar has no dry run: it is saved as it is written.
    outcome: m.kind === "wrong" ? "broken" : "changed",
    note: m.kind === "wrong" ? m.problem : "",
    manifest: m.kind === "wrong" ? undefined : m,
  }));
}

async function crontabRows(source: Source): Promise<Row[]> {
  const { items } = await readCrontab(source.text, source);
  return items
    .filter((l) => l.outcome !== "setting")
    .map((l): Row => {
      const doc = l.job;
      return {
        name: doc?.job ?? "",
        line: l.line,
        outcome: l.outcome === "imported" ? "changed" : l.outcome === "skipped" ? "skipped" : "broken",
        note: l.note ?? (doc ? "" : l.text),
        manifest: doc ? { kind: "job", name: doc.job, line: l.line, doc } : undefined,
      };
    });
}
