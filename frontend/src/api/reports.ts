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

/** What a report is narrowed to. */
interface Within {
  job?: string[];
  group?: string;
}

/** In which ways attempts failed, the most frequent first. */
export function failuresQuery(within: Within, range: { from: string; to: string }) {
  return queryOptions({
    queryKey: ["reports", "failures", within, range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/failures", {
          signal,
          params: { query: { ...range, ...within, limit: 50 } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}

/** How the runs of each job or instance went: first those with the most runs, the highest share of failures, or the longest runs. */
export function breakdownQuery(
  by: "job" | "instance",
  within: Within,
  range: { from: string; to: string },
  order: "runs" | "ratio" | "duration",
) {
  return queryOptions({
    queryKey: ["reports", "runs", by, within, range, order],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/runs", {
          signal,
          params: {
            query: {
              ...range,
              ...within,
              by: by === "job" ? ["job"] : ["group", "instance"],
              order,
              limit: 200,
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}

/** How the attempts of each instance of a group went, hour by hour. */
export function instanceHours(group: string, range: { from: string; to: string }) {
  return queryOptions({
    queryKey: ["reports", "hours", group, range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/runs", {
          signal,
          params: { query: { ...range, group, by: ["group", "instance"], step: "hour", limit: 5000 } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}
