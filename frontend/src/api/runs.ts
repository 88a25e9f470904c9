import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { base } from "@/lib/base";
import { always, every } from "@/lib/every";
import { ProblemError, problemOf, unreachable } from "@/lib/problem";
import { isLiving, living } from "@/lib/status";
import { api, dataOf } from "./client";
import type {
  Cause,
  Level,
  LogLine,
  LogPage,
  MarkRequest,
  paths,
  RerunRequest,
  RunBulk,
  RunDetail,
  Status,
} from "./schema.gen";

export interface RunFilter {
  job?: string[];
  group?: string | undefined;
  /** Only runs of jobs that have this owner or tag now. */
  owner?: string | undefined;
  tag?: string | undefined;
  status?: Status[];
  cause?: Cause[];
  instance?: string;
  version?: number;
  /** With 2, only what took more than one attempt. */
  min_attempt?: number;
  /** The fingerprint of the error with which they failed. */
  error?: string;
  /** Fire times, ISO. */
  from?: string;
  to?: string;
}

export const runsKey = ["runs"] as const;

export function runList(filter: RunFilter, limit = 100) {
  return infiniteQueryOptions({
    queryKey: [...runsKey, "list", filter, limit],
    queryFn: ({ pageParam, signal }) =>
      dataOf(api.GET("/api/v1/runs", { signal, params: { query: { ...filter, limit, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });
}

/** How lists can be sorted, as the server calls it. */
type Sort = NonNullable<NonNullable<paths["/api/v1/runs"]["get"]["parameters"]["query"]>["sort"]>;
const sortNames = {
  fire: "fire_time",
  delay: "delay",
  duration: "duration",
  started: "started_at",
  finished: "finished_at",
} as const;

/** The name of an order: the greatest first, or the least. */
export function sortName(by: keyof typeof sortNames, down: boolean): Sort {
  return down ? `-${sortNames[by]}` : sortNames[by];
}

/** The first runs in another order than by their fires, of a range of a month at most: the server looks at all of it. */
export function sortedRuns(filter: RunFilter, sort: Sort, limit: number) {
  return queryOptions({
    queryKey: [...runsKey, "sorted", filter, sort, limit],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs", { signal, params: { query: { ...filter, sort, limit } } })),
    placeholderData: keepPreviousData,
  });
}

/** Changes several runs at once: what became of each, or with dry_run what would. */
export function changeRuns(body: Omit<RunBulk, "dry_run"> & { dry_run?: boolean }) {
  return dataOf(api.POST("/api/v1/runs/bulk", { body: { dry_run: false, ...body } }));
}

/** The newest runs that match, kept up to date. */
export function latestRuns(filter: RunFilter, limit: number, ms = 2000) {
  return queryOptions({
    queryKey: [...runsKey, "latest", filter, limit],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs", { signal, params: { query: { ...filter, limit } } })),
    placeholderData: keepPreviousData,
    refetchInterval: every(ms),
  });
}

/** The newest runs that have not ended, for pages that count them or ask more only if there are any. */
export const livingRuns = latestRuns({ status: living }, 200, 3000);

/** How many fires each status, cause, job, group and instance has among those that match. */
export function runFacets(filter: RunFilter) {
  return queryOptions({
    queryKey: [...runsKey, "facets", filter],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/runs/facets", {
          signal,
          params: {
            query: { ...filter, by: ["status", "cause", "job", "group", "instance", "version"], values: 30 },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });
}

/** Where all runs that match can be had as a file. */
export function runsExport(filter: RunFilter, format: "csv" | "ndjson"): string {
  const query = new URLSearchParams({ format });
  for (const [key, value] of Object.entries(filter))
    for (const one of [value].flat()) if (one !== undefined) query.append(key, String(one));
  return `${base}/api/v1/runs/export?${query}`;
}

/** Fires by their outcome, over a range in equal parts. */
export function runCounts(filter: RunFilter & { from: string; to: string }, parts: number, ms = 5000) {
  return queryOptions({
    queryKey: [...runsKey, "counts", filter, parts],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs/counts", { signal, params: { query: { ...filter, parts } } })),
    placeholderData: keepPreviousData,
    refetchInterval: every(ms),
  });
}

/** Of so many runs that somebody asked for, the parameters are looked at. */
const asked = 20;

/** The different parameters that the newest runs of a job were given in the place of its own, the newest first. */
export function givenParams(job: string) {
  return queryOptions({
    queryKey: [...runsKey, "given", job],
    queryFn: async ({ signal }) => {
      const query = { job: [job], cause: ["manual" as const, "api" as const], limit: asked };
      const { items } = await dataOf(api.GET("/api/v1/runs", { signal, params: { query } }));
      const details = await Promise.all(
        items.map(({ run_id }) =>
          dataOf(api.GET("/api/v1/runs/{run_id}", { signal, params: { path: { run_id } } })),
        ),
      );
      const sets = new Map<string, { json: unknown; at: string }>();
      details.forEach(({ params }, i) => {
        const key = JSON.stringify(params);
        if (params !== undefined && !sets.has(key))
          sets.set(key, { json: params, at: items[i]?.fire_time ?? "" });
      });
      return [...sets.values()].slice(0, 10);
    },
    retry: false,
  });
}

export function runQuery(runId: string) {
  return queryOptions({
    queryKey: [...runsKey, "one", runId],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs/{run_id}", { signal, params: { path: { run_id: runId } } })),
    // A new run reaches the history within a second or so: until then it is asked for again.
    retry: (failures, error) => failures < (problemOf(error).code === "not_found" ? 10 : 2),
    retryDelay: 700,
    refetchInterval: (query) => {
      const run = query.state.data;
      return run && !isLiving(run.status) ? false : always(1500)();
    },
  });
}

/** The runs of a job that fired before a run and after it, within a month. */
export function neighboursQuery(job: string, runId: string, at: string) {
  const month = 31 * 86_400_000 - 1000;
  return queryOptions({
    queryKey: [...runsKey, "around", runId],
    queryFn: async ({ signal }) => {
      const fired = Date.parse(at);
      const query = { job: [job], limit: 2 };
      const [before, after] = await Promise.all([
        dataOf(
          api.GET("/api/v1/runs", {
            signal,
            params: { query: { ...query, to: new Date(fired + 1).toISOString() } },
          }),
        ),
        dataOf(
          api.GET("/api/v1/runs", {
            signal,
            params: {
              query: { ...query, from: at, to: new Date(fired + month).toISOString(), sort: "fire_time" },
            },
          }),
        ),
      ]);
      return {
        previous: before.items.find((r) => r.run_id < runId)?.run_id,
        next: after.items.find((r) => r.run_id > runId)?.run_id,
      };
    },
    staleTime: 5000,
  });
}

export function cancelRun(runId: string, job: string, reason: string) {
  return dataOf(
    api.POST("/api/v1/runs/{run_id}/cancel", { params: { path: { run_id: runId } }, body: { job, reason } }),
  );
}

/** A page of log lines, of some levels or of all: from a line on, those before a line, or the last ones. */
export async function logLines(
  runId: string,
  attempt: number,
  where: { from: number } | { before: number } | "end",
  limit: number,
  piece?: number,
  level?: Level[],
): Promise<LogPage> {
  const range =
    where === "end"
      ? { tail: true }
      : "before" in where
        ? { tail: true, to_seq: where.before - 1 }
        : { from_seq: where.from };
  const page = await dataOf(
    api.GET("/api/v1/runs/{run_id}/logs", {
      headers: { Accept: "application/json" },
      params: { path: { run_id: runId }, query: { attempt, limit, broadcast_index: piece, level, ...range } },
    }),
  );
  // The route has a form in plain text too, which was not asked for.
  if (typeof page === "string") throw new ProblemError(unreachable());
  return page;
}

/** Which lines of a log are looked for. */
export interface LogSearch {
  text: string;
  regex: boolean;
  level?: Level[];
}

/** How many lines of each level an attempt's log has, and the numbers of those that are looked for. */
export function findLines(
  runId: string,
  attempt: number,
  piece?: number,
  what?: LogSearch,
  signal?: AbortSignal,
) {
  return dataOf(
    api.GET("/api/v1/runs/{run_id}/logs/find", {
      signal,
      params: { path: { run_id: runId }, query: { attempt, broadcast_index: piece, ...what } },
    }),
  );
}

export function foundLines(runId: string, attempt: number, piece: number | undefined, what: LogSearch) {
  return queryOptions({
    queryKey: ["logs", "find", runId, attempt, piece, what],
    queryFn: ({ signal }) => findLines(runId, attempt, piece, what, signal),
    staleTime: 5000,
  });
}

/** A line with those of its attempt before and after it, so many of each. They change no more. */
export function linesAround(of: LogLine, many: number) {
  const from = Math.max(1, of.seq - many);
  return queryOptions({
    queryKey: ["logs", "around", of.run_id, of.attempt, of.broadcast_index, of.seq, many],
    queryFn: () => logLines(of.run_id, of.attempt, { from }, of.seq + many + 1 - from, of.broadcast_index),
    staleTime: 60_000,
    retry: false,
  });
}

/** The first line of an attempt that is an error. */
export async function firstErrorOf(runId: string, attempt: number, piece?: number) {
  const page = await dataOf(
    api.GET("/api/v1/runs/{run_id}/logs", {
      headers: { Accept: "application/json" },
      params: {
        path: { run_id: runId },
        query: { attempt, limit: 1, broadcast_index: piece, level: ["error"] },
      },
    }),
  );
  return typeof page === "string" ? undefined : page.items[0];
}

/** Where the live tail of an attempt is, or of one piece of it. */
export function tailUrl(runId: string, attempt: number, job: string, piece?: number): string {
  const query = new URLSearchParams({ attempt: String(attempt), job });
  if (piece !== undefined) query.set("broadcast_index", String(piece));
  return `${base}/api/v1/runs/${runId}/logs/tail?${query}`;
}

/** The pieces of a run that is done in several, as far as something was heard of them. */
export function piecesQuery(runId: string, attempt: number | undefined, isAlive: boolean) {
  return queryOptions({
    queryKey: [...runsKey, "pieces", runId, attempt],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/runs/{run_id}/pieces", {
          signal,
          params: { path: { run_id: runId }, query: { attempt, limit: 1000 } },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: isAlive ? every(1000) : false,
  });
}

/** The runs that ran because this one ended. */
export function childRuns(runId: string, isAlive: boolean) {
  return queryOptions({
    queryKey: [...runsKey, "children", runId],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs", { signal, params: { query: { parent: runId, limit: 50 } } })),
    refetchInterval: isAlive ? every(3000) : false,
  });
}

export type RerunOptions = Omit<RerunRequest, "key">;

/** Does a run again that has ended. */
export function rerunRun(runId: string, body: RerunOptions) {
  return dataOf(api.POST("/api/v1/runs/{run_id}/rerun", { params: { path: { run_id: runId } }, body }));
}

const markLook = 500;
const markLooks = 10;

/** Marks a run that has ended without success. Returns the run once the history has the mark, which is soon. */
export async function markRun(runId: string, body: MarkRequest): Promise<RunDetail> {
  const params = { path: { run_id: runId } };
  const made = await dataOf(api.POST("/api/v1/runs/{run_id}/mark", { params, body }));
  for (let looks = 1; ; looks++) {
    const detail = await dataOf(api.GET("/api/v1/runs/{run_id}", { params }));
    const known = detail.changes.some((c) => c.kind === "marked" && Date.parse(c.at) === Date.parse(made.at));
    if (known || looks === markLooks) return detail;
    await new Promise((resolve) => setTimeout(resolve, markLook));
  }
}
