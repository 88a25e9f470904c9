import { queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import type { JobRef } from "@/lib/jobref";
import { api, dataOf } from "./client";
import type { Backfill, BackfillRequest } from "./schema.gen";

export const backfillsKey = (ref: JobRef) => ["backfills", ref.group, ref.name] as const;

/** Whether some of its runs are still to begin, or to end. */
export function isOver(b: Backfill): boolean {
  return b.ended_at !== undefined || (b.cancelled !== undefined && (b.alive ?? 0) === 0);
}

/** A job's backfills that are not over, and those of the last day; looked at often while one goes on. */
export function backfillsQuery(ref: JobRef) {
  return queryOptions({
    queryKey: backfillsKey(ref),
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/jobs/{group}/{name}/backfills", { signal, params: { path: ref } })),
    retry: false,
    refetchInterval: (q) => (q.state.data?.items.some((b) => !isOver(b)) ? always(1000)() : false),
  });
}

/** Runs fires of the past; with dry_run it says which, and runs none. */
export function backfill(ref: JobRef, request: BackfillRequest) {
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/backfills", { params: { path: ref }, body: request }));
}

export function cancelBackfill(ref: JobRef, id: string, note: string) {
  return dataOf(
    api.POST("/api/v1/jobs/{group}/{name}/backfills/{backfill}/cancel", {
      params: { path: { ...ref, backfill: id } },
      body: { note },
    }),
  );
}
