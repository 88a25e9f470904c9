import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { JobRef } from "@/lib/jobref";
import { jobKey, jobQuery, refreshJobs, saveJob } from "./jobs";
import type { Job } from "./schema.gen";

/**
 * A job as it was when it was opened to copy, edit or merge it. Changes of jobs do not load it again: a
 * newer version must not take the place of what the user edits.
 */
export function jobSnapshot(ref: JobRef, use: "copy" | "edit" | "merge") {
  return queryOptions({
    ...jobQuery(ref, 0, 0),
    queryKey: ["snapshot", use, ref.group, ref.name],
    refetchInterval: false,
  });
}

/** Checks a job as a save would, without saving it. onRefused is called with the error, if any. */
export function saveTrial(job: Job, etag: string | undefined, onRefused: (error: unknown) => void) {
  return queryOptions({
    queryKey: ["editor", "review", job, etag],
    queryFn: () =>
      saveJob(job, { etag, dryRun: true }).catch((error: unknown) => {
        onRefused(error);
        throw error;
      }),
    retry: false,
    gcTime: 0,
  });
}

/** After a job was saved: its page must not begin with the old version. */
export function refreshSaved(client: QueryClient, ref: JobRef) {
  client.removeQueries({ queryKey: jobKey(ref) });
  return refreshJobs(client);
}
