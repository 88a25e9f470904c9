import { api, dataOf } from "./client";
import type { Job, PutJobResult } from "./schema.gen";

export interface CrontabOptions {
  group: string;
  zone: string;
}

/** What the lines of a crontab would be as jobs. Nothing is saved. */
export function readCrontab(text: string, { group, zone }: CrontabOptions) {
  return dataOf(api.POST("/api/v1/import/crontab", { body: { text, group, zone } }));
}

/** What a dump of XXL-JOB's database would be as jobs; a group for those of which it has none. Nothing is saved. */
export function readXXLJob(
  text: string,
  { group, zone, workflows }: CrontabOptions & { workflows?: boolean },
) {
  const body = { text, group: group || undefined, zone, workflows };
  return dataOf(api.POST("/api/v1/import/xxl-job", { body }));
}

/** What an iCalendar file would be as a calendar; without a zone, that of the file. Nothing is saved. */
export function readCalendarFile(text: string, zone: string | undefined) {
  return dataOf(api.POST("/api/v1/import/calendar", { body: { text, zone } }));
}

/** The jobs of a group whose newest version has such a note. */
export async function jobsNoted(group: string, passes: (note: string) => boolean): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { group, fires: 0, runs: 0, limit: 500, cursor };
    const page = await dataOf(api.GET("/api/v1/jobs", { params: { query } }));
    for (const { definition: d } of page.items) if (passes(d.note ?? "")) names.push(d.job);
    cursor = page.next;
  } while (cursor);
  return names;
}

/** The note of a job's newest version. */
export async function noteOf(name: string): Promise<string> {
  const slash = name.indexOf("/");
  const path = { group: name.slice(0, slash), name: name.slice(slash + 1) };
  const item = await dataOf(api.GET("/api/v1/jobs/{group}/{name}", { params: { path } }));
  return item.definition.note ?? "";
}

/**
 * Saves a job over whatever there is, as `carillon apply` does. With dry it says what that would do once
 * the calendars are there.
 */
export function applyJob(job: Job, note: string, dry?: { calendars: string[] }): Promise<PutJobResult> {
  const slash = job.job.indexOf("/");
  return dataOf(
    api.PUT("/api/v1/jobs/{group}/{name}", {
      params: {
        path: { group: job.job.slice(0, slash), name: job.job.slice(slash + 1) },
        query: { dry_run: dry !== undefined, calendars: dry?.calendars, note: note || undefined },
      },
      body: job,
    }),
  );
}
