import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import { api, dataOf } from "./client";

/** Totals, trend, the slowest and least healthy jobs, the busiest minutes and the ways of failing of a range. */
export function overviewQuery(range: { from: string; to: string }, top = 5) {
  return queryOptions({
    queryKey: ["reports", "overview", range, top],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/overview", { signal, params: { query: { ...range, top } } })),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}

/** In which ways a job's attempts failed, the most frequent first. */
export function failuresQuery(job: string, range: { from: string; to: string }) {
  return queryOptions({
    queryKey: ["reports", "failures", job, range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/failures", {
          signal,
          params: { query: { ...range, job: [job], limit: 20 } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}
