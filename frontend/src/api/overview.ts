import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import { alignedEnd } from "@/lib/ranges";
import { conditionsOfScope, type Scope } from "@/lib/scope";
import { failures } from "@/lib/status";
import { chartOf, comparedTime, isLength, type RangeReader, type TimeRange } from "@/lib/timerange";
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

/** The server plans so far ahead in one answer. */
const mostPlanned = 31 * 24 * 60 * minute;

const between = (from: number, until: number) => ({
  from: new Date(from).toISOString(),
  to: new Date(until).toISOString(),
});

/** When the chart of a range goes over into the plan, and until when: to its end, or an eighth beyond now. */
export function planTime(range: TimeRange, now: number): { from: number; to: number; parts: number } {
  const { from, to, part } = chartOf(range, chartParts);
  if (isLength(range.name)) return { from: to, to: to + (chartParts / 8) * part, parts: chartParts / 8 };
  const past = Math.min(chartParts, Math.max(0, Math.ceil((now - from) / part)));
  return { from: from + past * part, to, parts: chartParts - past };
}

/** What the overview of a range asks for at an instant, each by itself. */
export function overviewQueries(
  range: TimeRange,
  reader: Pick<RangeReader, "now" | "firstDay">,
  scope: Scope,
) {
  const { now } = reader;
  const { from, to } = chartOf(range, chartParts);
  const step = alignedEnd(now, reportStep);
  const reported = isLength(range.name)
    ? { from: step - (to - from), to: step }
    : { from, to: Math.max(from + 1, Math.min(to, step)) };
  const before = comparedTime({ ...range, from, to }, { ...reader, now: Math.min(step, to) });
  const earlier = { ...scope, ...between(before.from, before.to) };
  const plan = planTime(range, now);
  return {
    compared: before,
    past: runCounts({ ...scope, ...between(from, to) }, chartParts, to - from > 60 * minute ? 10_000 : 3000),
    /** The time before, to compare with. News of runs does not refresh it: it hardly changes. */
    before: {
      ...runCounts(earlier, 1, minute),
      queryKey: ["reports", "before", earlier],
    },
    plan: {
      ...fireCounts(
        { ...scope, ...between(plan.from, plan.to) },
        Math.max(1, plan.parts),
        `${plan.from} ${plan.to}`,
      ),
      enabled: range.isOpen && plan.parts > 0 && plan.to - plan.from <= mostPlanned,
    },
    reports: overviewQuery(
      { ...scope, ...between(reported.from, reported.to) },
      reported.from > now - zonesKnown ? range.zone : undefined,
    ),
  };
}

/** What the overview asks for of the present, whatever its range. */
export function presentQueries(now: number, scope: Scope) {
  const recent = alignedEnd(now, 5 * minute);
  return {
    missed: runCounts({ ...scope, ...between(recent - 60 * minute, recent), status: ["missed"] }, 1, 15_000),
    soon: fireCounts({ ...scope, ...between(now, now + 10 * minute) }, 1, "soon"),
    next: firesQuery({ ...scope, ...between(now, now + 60 * minute) }, 3, "hour"),
    failing: failedLast(failures, conditionsOfScope(scope)),
  };
}

/** Whether counts are those of a time, and not others that stand in for them. */
export function areOf(counts: RunCounts, { from, to }: { from: number; to: number }): boolean {
  return Date.parse(counts.to) - Date.parse(counts.from) === to - from;
}

/** What the ledger says of the fires of a time, of as many jobs as it checks at once; until now without an end. */
export const firesProof = (from: number, to: number | undefined, scope: Scope) =>
  queryOptions({
    queryKey: ["ledger", "proof", from, to, scope],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/ledger", {
          signal,
          params: {
            query: {
              ...scope,
              from: new Date(from).toISOString(),
              ...(to && { to: new Date(to).toISOString() }),
            },
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
export function askAhead(client: QueryClient, range: TimeRange, reader: RangeReader, scope: Scope): void {
  const asked = overviewQueries(range, reader, scope);
  const present = presentQueries(reader.now, scope);
  void client.prefetchQuery(asked.past);
  void client.prefetchQuery(asked.reports);
  void client.prefetchQuery(present.failing);
  if (asked.plan.enabled) void client.prefetchQuery(asked.plan);
  void client.prefetchQuery(present.soon);
}
