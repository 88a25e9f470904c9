import { queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import { api, dataOf } from "./client";
import type { BulkBackfillRequest } from "./schema.gen";

export const bulkBackfillsKey = ["bulk-backfills"] as const;

/** The backfills of many jobs, newest first; looked at often while one goes on. */
export const bulkBackfillsQuery = queryOptions({
  queryKey: [...bulkBackfillsKey, "list"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/backfills", { signal })),
  retry: false,
  refetchInterval: (q) => (q.state.data?.items.some((b) => !b.ended_at) ? always(2000)() : false),
});

/** One of them with its jobs, looked at each second until it has ended. */
export function bulkBackfillQuery(backfill: string) {
  return queryOptions({
    queryKey: [...bulkBackfillsKey, backfill],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/backfills/{backfill}", { signal, params: { path: { backfill } } })),
    retry: false,
    refetchInterval: (q) => (q.state.data && !q.state.data.ended_at ? always(1000)() : false),
  });
}

/** Runs fires of the past of many jobs; with dryRun it says which, and runs none. */
export function bulkBackfill(body: BulkBackfillRequest, dryRun: boolean) {
  return dataOf(api.POST("/api/v1/backfills", { params: { query: { dry_run: dryRun } }, body }));
}

export type BackfillAct = "pause" | "resume" | "cancel" | "retry";

export function changeBulkBackfill(backfill: string, act: BackfillAct, note: string) {
  return dataOf(
    api.POST(`/api/v1/backfills/{backfill}/${act}`, {
      params: { path: { backfill } },
      body: note ? { note } : {},
    }),
  );
}
