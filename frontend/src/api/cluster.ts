import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { base } from "@/lib/base";
import { always, every } from "@/lib/every";
import { ProblemError, unreachable } from "@/lib/problem";
import { Rates } from "@/lib/rates";
import { api, dataOf } from "./client";
import type { Calendar, Health } from "./schema.gen";

export const nodesQuery = queryOptions({
  queryKey: ["cluster", "nodes"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/nodes", { signal })),
  refetchInterval: every(5000),
});

/** How fast the streams grow, since the page was first looked at. */
const growth = new Rates();

/** What is on NATS, with how many messages a second came to each stream between the last looks. */
export const busQuery = queryOptions({
  queryKey: ["cluster", "bus"],
  queryFn: async ({ signal }) => {
    const state = await dataOf(api.GET("/api/v1/bus", { signal }));
    growth.note(Date.now(), new Map(state.streams.map((s) => [s.stream, s.last_sequence])));
    return { ...state, rates: new Map(state.streams.map((s) => [s.stream, growth.of(s.stream)])) };
  },
  refetchInterval: always(3000),
});

export type Bus = Awaited<ReturnType<NonNullable<typeof busQuery.queryFn>>>;

export const groupsQuery = queryOptions({
  queryKey: ["cluster", "groups"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/groups", { signal })),
  refetchInterval: every(2000),
});

export const versionQuery = queryOptions({
  queryKey: ["cluster", "version"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/version", { signal })),
  refetchInterval: always(60_000),
});

/** Readiness answers 503 with a body when something is away: that is an answer, not a failure. */
export const healthQuery = queryOptions({
  queryKey: ["cluster", "health"],
  queryFn: async ({ signal }): Promise<Health> => {
    const response = await fetch(`${base}/readyz`, { signal });
    return (await response.json()) as Health;
  },
  refetchInterval: always(10_000),
});

export const holdQuery = queryOptions({
  queryKey: ["cluster", "hold"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/pause", { signal })),
  refetchInterval: every(5000),
});

/** Turns the switch for everything; a pause may end by itself. */
export function setPause(paused: boolean, note: string, until?: string) {
  return dataOf(api.PUT("/api/v1/pause", { body: { paused, note, until } }));
}

export function getCalendars(signal?: AbortSignal) {
  return dataOf(api.GET("/api/v1/calendars", { signal }));
}

export const calendarsQuery = queryOptions({
  queryKey: ["cluster", "calendars"],
  queryFn: ({ signal }) => getCalendars(signal),
  staleTime: 10_000,
});

/** Saves a calendar: as it was read, one that must not exist yet, or over whatever there is. */
export function putCalendar(calendar: Calendar, revision: number | undefined | "any") {
  const header =
    revision === "any"
      ? {}
      : revision === undefined
        ? { "If-None-Match": "*" }
        : { "If-Match": `"${revision}"` };
  return dataOf(
    api.PUT("/api/v1/calendars/{calendar}", {
      params: { path: { calendar: calendar.calendar }, header },
      body: calendar,
    }),
  );
}

/** Which fires of the next year saving a calendar would affect. */
export const calendarPreview = (calendar: Calendar) =>
  queryOptions({
    queryKey: ["cluster", "calendars", "preview", calendar],
    queryFn: ({ signal }) =>
      dataOf(
        api.POST("/api/v1/calendars/{calendar}/preview", {
          params: { path: { calendar: calendar.calendar } },
          body: calendar,
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });

export async function deleteCalendar(calendar: string, revision: number): Promise<void> {
  await api.DELETE("/api/v1/calendars/{calendar}", {
    params: { path: { calendar }, header: { "If-Match": `"${revision}"` } },
  });
}

/** What a maintainer asks for when something is wrong: a ZIP file, and a name for it. */
export async function collectDiagnostics(): Promise<{ name: string; data: Blob }> {
  const { data, response } = await api.POST("/api/v1/diagnostics", { parseAs: "blob" });
  if (data === undefined) throw new ProblemError(unreachable());
  const said = /filename="([\w.-]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { name: said ?? "carillon-diagnostics.zip", data: new Blob([data], { type: "application/zip" }) };
}
