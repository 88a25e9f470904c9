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

/** Saves a job over whatever there is, as `carillon apply` does, or says what that would do. */
export function applyJob(job: Job, dryRun: boolean, note: string): Promise<PutJobResult> {
  const slash = job.job.indexOf("/");
  return dataOf(
    api.PUT("/api/v1/jobs/{group}/{name}", {
      params: {
        path: { group: job.job.slice(0, slash), name: job.job.slice(slash + 1) },
        query: { dry_run: dryRun, note: note || undefined },
      },
      body: job,
    }),
  );
}
