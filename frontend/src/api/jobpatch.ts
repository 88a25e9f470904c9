import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import { jobsKey } from "./jobs";
import type { JobPatch } from "./schema.gen";

/** Changes fields of many jobs, or undoes that; with dryRun it says what would change, and saves nothing. */
export function patchJobs(body: JobPatch, dryRun: boolean) {
  return dataOf(api.POST("/api/v1/jobs/patch", { params: { query: { dry_run: dryRun } }, body }));
}

/** What undoing a change of many jobs would do to each, as of when that was asked. */
export function undoTrial(change: string) {
  return queryOptions({
    queryKey: [...jobsKey, "undo", change],
    queryFn: () => patchJobs({ undo: change }, true),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}
