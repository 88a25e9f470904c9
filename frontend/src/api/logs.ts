import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { api, dataOf } from "./client";
import type { Level } from "./schema.gen";

export interface LogFilter {
  text?: string;
  level?: Level[];
  job?: string[];
  group?: string;
  from?: string;
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
