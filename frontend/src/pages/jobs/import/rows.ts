import { getCalendars, putCalendar } from "@/api/cluster";
import { applyJob, type CrontabOptions, jobsNoted, noteOf, readCrontab, readXXLJob } from "@/api/importing";
import type { Reason } from "@/api/schema.gen";
import { type Manifest, readManifests } from "@/lib/manifests";
import type { Sayer } from "@/lib/reason";

export type Outcome = "created" | "changed" | "unchanged" | "conflict" | "skipped" | "broken" | "leftover";
export type Kind = "yaml" | "crontab" | "xxl-job";

/** One document, line or job of another scheduler, and what would become of it, or did. */
export interface Row {
  name: string;
  /** What it is called there, if it has no name of ours there. */
  title?: string;
  /** The line, or the number of the job. */
  line?: number;
  /** The note of the version to be saved, by which the next import knows what is its own. */
  origin?: string;
  /** Whether a job that others have edited is a conflict. */
  guarded?: boolean;
  outcome: Outcome;
  note: string;
  /** Absent for what cannot be saved. */
  manifest?: Manifest;
  saved?: boolean;
}

export interface Source extends CrontabOptions {
  kind: Kind;
  text: string;
  /** The name of the file; absent for text that was pasted. */
  file?: string;
  /** No imported job fires until somebody resumes it. */
  paused?: boolean;
  /** Child jobs of XXL-JOB become workflows. */
  workflows?: boolean;
}

/** What a file most likely is. */
export function readable(name: string, text: string): Kind {
  if (/\.sql$/i.test(name) || /\bxxl_job_info\b/.test(text)) return "xxl-job";
  if (/\.(ya?ml|json)$/i.test(name)) return "yaml";
  return /^\s*(job|calendar)\s*:/m.test(text) || /^\s*[[{]/.test(text) ? "yaml" : "crontab";
}

/** Says what saving would do, one after the other, since a file may well have a thousand. */
export async function check(source: Source, note: string, noDocument: string, words: Sayer): Promise<Row[]> {
  const rows: Row[] = await {
    yaml: () => documentRows(source.text, noDocument),
    crontab: () => crontabRows(source, words.say),
    "xxl-job": () => xxlJobRows(source, words.say),
  }[source.kind]();
  const calendars = rows.filter((r) => r.manifest?.kind === "calendar").map((r) => r.name);
  const jobs = new Set(rows.filter((r) => r.manifest?.kind === "job").map((r) => r.name));
  for (const row of rows) {
    if (row.manifest?.kind !== "job") continue;
    // A job without a schedule does not fire, and a workflow cannot call it while it is paused.
    if (source.paused && (source.kind !== "xxl-job" || row.manifest.doc.schedule))
      row.manifest = { ...row.manifest, doc: { ...row.manifest.doc, paused: true } };
    try {
      const answer = await applyJob(row.manifest.doc, note, { calendars });
      row.outcome = answer.result;
      row.note ||= answer.changes.map((c) => c.field).join(", ");
      for (const w of answer.warnings ?? []) {
        if (isSettled(w.reason, jobs)) continue;
        row.note = [row.note, `${w.field}: ${words.say(w.reason)}`].filter(Boolean).join("; ");
      }
      if (row.guarded && row.outcome === "changed" && (await noteOf(row.name)) !== row.origin)
        row.outcome = "conflict";
    } catch (error) {
      refuse(row, words.sayError(error));
    }
  }
  return [...rows, ...(await leftovers(source, rows))];
}

/** Whether a warning is about a child that is imported, too. */
function isSettled({ code = "", params }: Reason, jobs: ReadonlySet<string>): boolean {
  return code === "child_unknown" && jobs.has(params?.job ?? "");
}

/** The notes by which an import knows the jobs that earlier ones have made. */
const notes = {
  yaml: () => undefined,
  crontab: (source: Source) => (note: string) => note === originOf(source),
  "xxl-job": () => (note: string) => /^XXL-JOB \d+( workflow)?$/.test(note),
};

const originOf = (source: Source) => `crontab console:${source.file ?? "-"}`;

/** The jobs that an earlier import has made and this one makes no more. They still fire. */
async function leftovers(source: Source, rows: Row[]): Promise<Row[]> {
  const passes = notes[source.kind](source);
  if (!passes) return [];
  const made = new Set(rows.map((r) => r.name).filter(Boolean));
  const groups = new Set([...made].map((name) => name.slice(0, name.indexOf("/"))));
  const left: Row[] = [];
  for (const group of groups)
    for (const name of await jobsNoted(group, passes))
      if (!made.has(name)) left.push({ name, outcome: "leftover", note: "" });
  return left;
}

/** Whether applying saves a row: a job that others have edited only if it is to be overwritten. */
export function isSaved(row: Row, overwrite: boolean): boolean {
  return row.outcome === "created" || row.outcome === "changed" || (overwrite && row.outcome === "conflict");
}

/** Saves what would be created or changed, calendars first, since jobs may name them. */
export async function apply(rows: Row[], note: string, overwrite: boolean, words: Sayer): Promise<Row[]> {
  const done = rows.map((r) => ({ ...r }));
  const order = [...done].sort(
    (a, b) => Number(b.manifest?.kind === "calendar") - Number(a.manifest?.kind === "calendar"),
  );
  for (const row of order) {
    if (!row.manifest || !isSaved(row, overwrite)) continue;
    try {
      if (row.manifest.kind === "job") await applyJob(row.manifest.doc, row.origin ?? note);
      else if (row.manifest.kind === "calendar") await putCalendar(row.manifest.doc, "any");
      row.saved = true;
    } catch (error) {
      refuse(row, words.sayError(error));
    }
  }
  return done;
}

function refuse(row: Row, why: string): void {
  row.outcome = "broken";
  row.note = why;
}

async function documentRows(text: string, noDocument: string): Promise<Row[]> {
  const manifests = await readManifests(text);
  const calendars = manifests.some((m) => m.kind === "calendar") ? (await getCalendars()).items : [];
  const known = new Set(calendars.map((c) => c.definition.calendar));
  return manifests.map((m) => ({
    name: m.name,
    line: m.line,
    // A calendar has no dry run: it is saved as it is written.
    outcome: m.kind === "wrong" ? "broken" : m.kind === "job" || known.has(m.name) ? "changed" : "created",
    note: m.kind === "wrong" ? (m.problem ?? noDocument) : "",
    manifest: m.kind === "wrong" ? undefined : m,
  }));
}

async function crontabRows(source: Source, say: Sayer["say"]): Promise<Row[]> {
  const { items } = await readCrontab(source.text, source);
  return items
    .filter((l) => l.outcome !== "setting")
    .map((l): Row => {
      const doc = l.job;
      return {
        name: doc?.job ?? "",
        line: l.line,
        origin: originOf(source),
        outcome: l.outcome === "imported" ? "changed" : l.outcome === "skipped" ? "skipped" : "broken",
        note: say(l.note) || (doc ? "" : l.text),
        manifest: doc ? { kind: "job", name: doc.job, line: l.line, doc } : undefined,
      };
    });
}

async function xxlJobRows(source: Source, say: Sayer["say"]): Promise<Row[]> {
  const { items } = await readXXLJob(source.text, source);
  const called = new Set(items.flatMap(({ job }) => job?.steps?.map((s) => s.call) ?? []));
  return items.map(({ id, title, origin, outcome, note: why, job: doc }): Row => {
    const row = { title, line: id, origin, guarded: true, note: say(why) };
    if (!doc) return { ...row, name: "", outcome: outcome === "skipped" ? "skipped" : "broken" };
    // A workflow cannot call a job that is paused, even if an earlier import has paused it.
    const awake = called.has(doc.job) && !doc.schedule ? { ...doc, paused: false } : doc;
    const manifest = { kind: "job", name: doc.job, line: id, doc: awake } as const;
    return { ...row, name: doc.job, outcome: "changed", manifest };
  });
}
