import type { AuditEntry, JobVersion, Run } from "@/api/schema.gen";

/** A change of a job, or of what its fires depend on, as a chart of its runs marks it. */
export interface Mark {
  key: string;
  at: string;
  /** Before which run of the chart, or which place after the last one. */
  before: number;
  /** One of these has what was changed. */
  version?: JobVersion;
  entry?: AuditEntry;
}

/** The operations of the audit log that are marks: changes of a calendar, of a group, of the global pause. */
const marked = new Set(["putCalendar", "deleteCalendar", "pauseGroup", "putGroup", "setPause"]);

/** The objects of the audit log on which the fires of a job depend. */
export function objectsOf(job: JobVersion, group: string): string[] {
  const calendars = [...(job.schedule?.only ?? []), ...(job.schedule?.except ?? [])];
  return [`group ${group}`, "global pause", ...new Set(calendars.map((c) => `calendar ${c}`))];
}

/** The changes since the first of some runs, the oldest first. The runs are in the order of their fires. */
export function marksOf(runs: Run[], versions: JobVersion[], entries: AuditEntry[]): Mark[] {
  const fires = runs.map((run) => Date.parse(run.fire_time));
  const before = (at: string) => {
    const i = fires.findIndex((fire) => fire >= Date.parse(at));
    return i < 0 ? runs.length : i;
  };
  return [
    ...versions
      .filter((v) => !v.deleted)
      .map((version) => ({
        key: `v${version.version}`,
        at: version.effective_from,
        before: before(version.effective_from),
        version,
      })),
    ...entries
      .filter((e) => marked.has(e.operation))
      .map((entry) => ({ key: entry.id, at: entry.at, before: before(entry.at), entry })),
  ]
    .filter((mark) => mark.before > 0)
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
