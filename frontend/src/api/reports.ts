import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { base } from "@/lib/base";
import { always } from "@/lib/every";
import type { Scope } from "@/lib/scope";
import { api, dataOf } from "./client";

/**
 * Totals, trend, the slowest and least healthy jobs and the ways of failing
 * of a range. A trend by day has the days of the zone, or of UTC.
 */
export function overviewQuery(range: Scope & { from: string; to: string }, zone: string | undefined) {
  return queryOptions({
    queryKey: ["reports", "overview", range, zone],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/overview", { signal, params: { query: { ...range, zone, top: 5 } } })),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
  });
}

/** What a report covers: a month in a zone, and the jobs of a group, an owner or a tag. */
export interface MonthAsked {
  month: string;
  zone: string;
  group?: string;
  owner?: string;
  tag?: string;
}

/** A month beside the month before. */
export function monthQuery(query: MonthAsked) {
  return queryOptions({
    queryKey: ["reports", "month", query],
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1/reports/month", { signal, params: { query } })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });
}

/** Where the same can be had as a file. */
export function monthExport(asked: MonthAsked): string {
  const set = Object.entries(asked).filter(([, value]) => value);
  return `${base}/api/v1/reports/month/export?${new URLSearchParams(set)}`;
}

/** What a report is narrowed to. */
interface Within extends Scope {
  job?: string[] | undefined;
}

/** What a report of failures is narrowed to. */
interface Failing extends Within {
  /** The fingerprint of the only one that is asked for. */
  error?: string;
}

const day = 86_400_000;

/** So many ways of failing are listed at most. */
export const mostFailures = 50;

/** In which ways attempts failed, the most frequent first; counted by parts of the range, if that is asked for. */
export function failuresQuery(within: Failing, range: { from: string; to: string }, parts?: number) {
  return queryOptions({
    queryKey: ["reports", "failures", within, range, parts],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/failures", {
          signal,
          params: { query: { ...range, ...within, parts, limit: mostFailures } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(Date.parse(range.to) - Date.parse(range.from) > day ? 60_000 : 10_000),
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

/** How the attempts of each instance of a group, or of all, went, hour by hour. */
export function instanceHours(group: string | undefined, range: { from: string; to: string }) {
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

/** How long triggers took to come to an executor, hour by hour. */
export function acceptHours(range: { from: string; to: string }) {
  return queryOptions({
    queryKey: ["reports", "accept", range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/runs", {
          signal,
          params: { query: { ...range, step: "hour", times: ["delivered_after"] } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
    retry: false,
  });
}

/** How a job did within a range: in all, by the days of a zone, or version by version. */
export function jobReport(
  job: string,
  range: { from: string; to: string },
  split: { step: "day"; zone: string } | { step?: never; by?: ("job" | "version")[] } = {},
) {
  return queryOptions({
    queryKey: ["reports", "job", job, range, split],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/reports/runs", {
          signal,
          params: {
            query: {
              ...range,
              ...split,
              job: [job],
              times: split.step ? ["none"] : ["duration", "started_after"],
              limit: 200,
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
    retry: false,
  });
}
