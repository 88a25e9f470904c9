import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { serverNow } from "@/lib/clock";
import { always } from "@/lib/every";
import { readerZone } from "@/lib/format";
import { alignedEnd, spans, type Zoom } from "@/lib/ranges";
import { failures } from "@/lib/status";
import { api, dataOf } from "./client";
import { failedLast } from "./jobs";
import { overviewQuery } from "./reports";
import { runCounts } from "./runs";
import { fireCounts, firesQuery } from "./schedule";
import type { Cause, RunCounts } from "./schema.gen";

/**
 * How many parts of the past the overview's chart has. The plan adds an eighth.
 */
export const chartParts = 96;

/** The causes of runs that a schedule asked for. The success rate is that of these runs. */
export const scheduledCauses: Cause[] = ["schedule", "misfire"];

/** The server's reports are by the hour: a range is asked for anew that often, and every minute while it lasts. */
const reportStep = 300_000;
const minute = 60_000;

/** How far back the server knows days of time zones but UTC. */
const zonesKnown = 98 * 24 * 60 * minute;

/** The time that the overview's figures are of, and that of one of the chart's bars. */
export function overviewTime(range: keyof typeof spans, now: number, zoom?: Zoom) {
  const span = zoom ? Date.parse(zoom.to) - Date.parse(zoom.from) : spans[range];
  const part = span / chartParts;
  return { span, part, to: zoom ? Date.parse(zoom.to) : alignedEnd(now, part) };
}

/** Whether two counts cover the same length of time. */
export function areAlike(a: RunCounts, b: RunCounts): boolean {
  return Date.parse(a.to) - Date.parse(a.from) === Date.parse(b.to) - Date.parse(b.from);
}

/** What the overview of a range asks for at an instant, each by itself. */
export function overviewQueries(range: keyof typeof spans, now: number, zoom?: Zoom) {
  const { span, to } = overviewTime(range, now, zoom);
  const reported = zoom ? to : alignedEnd(now, reportStep);
  const recent = alignedEnd(now, 5 * minute);
  const between = (from: number, until: number) => ({
    from: new Date(from).toISOString(),
    to: new Date(until).toISOString(),
  });
  return {
    past: runCounts(between(to - span, to), chartParts, range === "1h" ? 3000 : 10_000),
    /** The time before, of the same length, to compare with. News of runs does not refresh it: it hardly changes. */
    before: {
      ...runCounts(between(to - 2 * span, to - span), 1, minute),
      queryKey: ["reports", "before", to - span, span],
    },
    missed: runCounts({ ...between(recent - 60 * minute, recent), status: ["missed"] }, 1, 15_000),
    plan: {
      ...fireCounts(between(to, to + span / 8), chartParts / 8, `${range} ${to}`),
      enabled: zoom === undefined,
    },
    soon: fireCounts(between(now, now + 10 * minute), 1, "soon"),
    next: firesQuery(between(now, now + 60 * minute), 3, "hour"),
    reports: overviewQuery(
      between(reported - span, reported),
      reported - span > now - zonesKnown ? readerZone() : undefined,
    ),
    failing: failedLast(failures),
  };
}

/** What the ledger says of the fires of a time, of as many jobs as it checks at once; until now without an end. */
export const firesProof = (from: number, to: number | undefined) =>
  queryOptions({
    queryKey: ["ledger", "proof", from, to],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/ledger", {
          signal,
          params: {
            query: { from: new Date(from).toISOString(), ...(to && { to: new Date(to).toISOString() }) },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(60_000),
    retry: false,
  });

/**
 * Asks for what the page of a range shows, before the page itself is there. In the order
 * in which it is looked at: a browser asks a server for six things at a time.
 */
export function askAhead(client: QueryClient, range: keyof typeof spans, zoom?: Zoom): void {
  const q = overviewQueries(range, serverNow(), zoom);
  void client.prefetchQuery(q.past);
  void client.prefetchQuery(q.reports);
  void client.prefetchQuery(q.failing);
  if (!zoom) void client.prefetchQuery(q.plan);
  void client.prefetchQuery(q.soon);
}
