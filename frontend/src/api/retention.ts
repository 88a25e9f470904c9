import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { serverNow } from "@/lib/clock";
import { always } from "@/lib/every";
import { api, dataOf } from "./client";
import type { HistoryState, Retention } from "./schema.gen";

const key = ["retention"] as const;

/** How long history is kept. */
export const retentionQuery = queryOptions({
  queryKey: [...key, "now"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/retention", { signal })),
});

/** What a retention would delete, and what disk it takes in the long run. */
export function retentionEffect(retention: Retention) {
  return queryOptions({
    queryKey: [...key, "effect", retention],
    queryFn: ({ signal }) => dataOf(api.POST("/api/v1/retention/preview", { signal, body: retention })),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** Up to when the history is complete, and how much there is of it. */
export const historyQuery = queryOptions({
  queryKey: [...key, "history"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/history", { signal })),
  refetchInterval: always(3000),
});

/** Messages wait for up to this long, in ms, as batches are written. */
const batch = 10_000;

/** Whether the log store lacks more than what is being written. */
export function isBehind(history: HistoryState): boolean {
  const since = serverNow() - batch;
  return history.backlog.some((b) => b.since && Date.parse(b.since) < since);
}

/** Says how long history is kept, in the place of what was read; revision 0 is the server's own default. */
export function putRetention(retention: Retention, note: string, revision: number) {
  return dataOf(
    api.PUT("/api/v1/retention", {
      params: { header: revision === 0 ? { "If-None-Match": "*" } : { "If-Match": `"${revision}"` } },
      body: { retention, note: note || undefined },
    }),
  );
}
