import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { base } from "@/lib/base";
import { always } from "@/lib/every";
import { api, dataOf } from "./client";
import type { Level } from "./schema.gen";

export interface LogFilter {
  text?: string;
  level?: Level[];
  job?: string[];
  group?: string;
  run_id?: string;
  from?: string;
  to?: string;
}

/** A page of the lines that match, from a cursor on. */
export function logPage(filter: LogFilter, limit: number, cursor?: string, signal?: AbortSignal) {
  return dataOf(api.GET("/api/v1/logs", { signal, params: { query: { ...filter, limit, cursor } } }));
}

/** Lines of all runs that match, those of the newest run first. */
export function logSearch(filter: LogFilter) {
  return infiniteQueryOptions({
    queryKey: ["logs", filter],
    queryFn: ({ pageParam, signal }) => logPage(filter, 200, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** The last lines that match: with what a live tail begins. */
export function logTail(filter: LogFilter) {
  return queryOptions({
    queryKey: ["logs", "tail", filter],
    queryFn: ({ signal }) => logPage(filter, 200, undefined, signal),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
    // What was printed just before one began to listen is stored a moment later.
    refetchInterval: (query) => (query.state.dataUpdateCount < 3 ? 1500 : false),
  });
}

/** Where one hears what all runs print that match. */
export function watchUrl({ text, level, job, group }: LogFilter): string {
  const query = new URLSearchParams();
  if (text) query.set("text", text);
  if (group) query.set("group", group);
  for (const l of level ?? []) query.append("level", l);
  for (const j of job ?? []) query.append("job", j);
  return `${base}/api/v1/logs/tail?${query}`;
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
