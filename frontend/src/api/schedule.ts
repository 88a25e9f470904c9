import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { serverNow } from "@/lib/clock";
import { always, every } from "@/lib/every";
import { definitionOf } from "@/lib/jobdoc";
import type { JobRef } from "@/lib/jobref";
import type { Scope } from "@/lib/scope";
import { api, dataOf } from "./client";
import { saveJob } from "./jobs";
import type { Schedule } from "./schema.gen";

export const scheduleKey = ["schedule"] as const;

/** The next fires of a schedule that is not saved. A schedule that is wrong fails with its fields. */
export function schedulePreview(schedule: Schedule, job: string | undefined, n: number) {
  return queryOptions({
    queryKey: ["schedule", "preview", schedule, job, n],
    queryFn: ({ signal }) => dataOf(api.POST("/api/v1/preview", { signal, body: { schedule, job, n } })),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 10_000,
  });
}

export interface FireRange extends Scope {
  from?: string;
  to: string;
  q?: string;
}

/** How many fires some jobs have within the next hour. */
export function firesOfQuery(jobs: string[]) {
  return queryOptions({
    queryKey: [...scheduleKey, "fires-of", jobs],
    queryFn: async ({ signal }) => {
      const wanted = new Set(jobs);
      const to = new Date(serverNow() + 3_600_000).toISOString();
      let n = 0;
      let cursor: string | undefined;
      do {
        const query = { to, per_job: 500, limit: 1000, cursor };
        const page = await dataOf(api.GET("/api/v1/fires", { signal, params: { query } }));
        for (const item of page.items) if (wanted.has(item.job)) n += item.fires.length;
        cursor = page.next;
      } while (cursor);
      return n;
    },
  });
}

/** What will fire in a range, job by job, and how long that usually takes; with requested runs. key keeps answers apart whose ranges move with the clock. */
export function firesQuery(range: FireRange, perJob: number, key: string) {
  return queryOptions({
    queryKey: ["schedule", "fires", key, range.group, range.owner, range.tag, range.q, perJob],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/fires", {
          signal,
          params: { query: { ...range, per_job: perJob, limit: 500, usual: true, requested: true } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: every(5000),
  });
}

/** How much will fire, and how many runs were requested, in so many equal parts; with what it takes of the executors if that is asked for. */
export function fireCounts(
  range: Scope & { from?: string; to: string; apart?: string },
  parts: number,
  key: string,
  load?: boolean,
) {
  return queryOptions({
    queryKey: ["schedule", "counts", key, range.group, range.owner, range.tag, range.apart, parts, load],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/fires/counts", {
          signal,
          params: { query: { ...range, parts, load, requested: true } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: always(15_000),
  });
}

/** The same page after page, of so many fires a job, with those that calendars exclude. */
export function firesPages(range: FireRange, perJob: number) {
  return infiniteQueryOptions({
    queryKey: ["schedule", "pages", range, perJob],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/fires", {
          signal,
          params: {
            query: {
              ...range,
              per_job: perJob,
              excluded: true,
              requested: true,
              limit: 500,
              cursor: pageParam,
            },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
}

/** Which jobs fire together in a range and could as well fire a little later, and what that would do. */
export function offsetsQuery(range: { from: string; to: string; group?: string }) {
  return queryOptions({
    queryKey: ["schedule", "offsets", range],
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1/fires/offsets", { signal, params: { query: range } })),
    staleTime: 10_000,
  });
}

/** Saves a job as it is now, but for its schedule's spread. */
export async function applySpread(ref: JobRef, spread: string, note: string): Promise<void> {
  const { definition, revision } = await dataOf(
    api.GET("/api/v1/jobs/{group}/{name}", { params: { path: ref, query: { fires: 0, runs: 0 } } }),
  );
  const job = definitionOf(definition);
  await saveJob({ ...job, schedule: { ...job.schedule, spread } }, { etag: `"${revision}"`, note });
}
