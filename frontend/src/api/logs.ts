import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import { api, dataOf } from "./client";
import type { Level } from "./schema.gen";

export interface LogFilter {
  text?: string;
  level?: Level[];
  job?: string[];
  group?: string;
  from?: string;
  to?: string;
}

/** Lines of all runs that match, those of the newest run first. */
export function logSearch(filter: LogFilter) {
  return infiniteQueryOptions({
    queryKey: ["logs", filter],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/logs", { signal, params: { query: { ...filter, limit: 200, cursor: pageParam } } }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** So many lines are looked at while one follows what is printed. */
export const tailed = 500;

/** The last lines that match, asked for again every two seconds. */
export function logTail(filter: LogFilter) {
  return queryOptions({
    queryKey: ["logs", "tail", filter],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/logs", { signal, params: { query: { ...filter, limit: tailed } } })),
    placeholderData: keepPreviousData,
    refetchInterval: always(2000),
    retry: false,
  });
}

/** How many lines match in each part of the range, all of them or for as long as the server counts. */
export function logCounts(filter: LogFilter, parts: number, followed: boolean) {
  return queryOptions({
    queryKey: ["logs", "counts", filter, parts],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/logs/histogram", { signal, params: { query: { ...filter, parts } } })),
    placeholderData: keepPreviousData,
    refetchInterval: followed ? always(10_000) : false,
    retry: false,
  });
}
