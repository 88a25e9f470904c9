import {
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { batched } from "@/lib/batch";
import { every } from "@/lib/every";
import { type JobRef, refOf } from "@/lib/jobref";
import { ProblemError, unavailable } from "@/lib/problem";
import { api, dataOf } from "./client";
import type { Job, JobBulk, JobItem, JobVersion, Status } from "./schema.gen";

export interface JobFilter {
  q?: string;
  group?: string;
  paused?: boolean;
  last?: Status[];
  /** Conditions, as lib/jobfilter writes them. */
  where?: string[];
}

export const jobsKey = ["jobs"] as const;

/** What fills a window comes first; the rest follows it. */
const firstJobs = 30;
const moreJobs = 60;

/** The jobs that match, page by page and in an order of the server's, each with a strip of runs and its week. */
export function jobList(filter: JobFilter, sort: string) {
  return infiniteQueryOptions({
    queryKey: [...jobsKey, "list", filter, sort],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/jobs", {
          signal,
          params: {
            query: {
              ...filter,
              sort,
              week: true,
              fires: 1,
              runs: 30,
              limit: pageParam ? moreJobs : firstJobs,
              cursor: pageParam,
            },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchInterval: every(3000),
  });
}

/** Of more jobs than so many, owners and tags are not asked for: nobody reads as many lanes. */
export const mostMarked = 2000;
const markedPage = 500;

/** Who owns jobs and which tags they have, by name, of those that have one. */
export function jobMarks(by: "owner" | "tag", filter: { group?: string }) {
  return queryOptions({
    queryKey: [...jobsKey, "marks", by, filter],
    queryFn: async ({ signal }) => {
      const marks = new Map<string, string[]>();
      const query = { ...filter, where: [`-${by}:none`], fires: 0, runs: 0, limit: markedPage };
      let cursor: string | undefined;
      do {
        const page = await dataOf(
          api.GET("/api/v1/jobs", { signal, params: { query: { ...query, cursor } } }),
        );
        for (const { definition: d } of page.items)
          marks.set(d.job, by === "tag" ? (d.tags ?? []) : d.owner ? [d.owner] : []);
        cursor = page.next;
      } while (cursor && marks.size < mostMarked);
      return { marks, isPart: cursor !== undefined };
    },
    placeholderData: keepPreviousData,
    refetchInterval: every(30_000),
  });
}

async function totalsOf(filters: JobFilter[]): Promise<readonly (number | null)[]> {
  const { totals } = await dataOf(api.POST("/api/v1/jobs/counts", { body: { filters } }));
  return totals;
}

/** All counts of a page are asked for at once. A filter that is refused takes none of the others with it. */
const countOf = batched(30, async (filters: JobFilter[]) => {
  try {
    return await totalsOf(filters);
  } catch (error) {
    if (filters.length === 1 || !(error instanceof ProblemError) || error.problem.status !== 400) throw error;
    return Promise.all(
      filters.map((filter) =>
        totalsOf([filter]).then(
          ([total]) => total,
          (refused: Error) => refused,
        ),
      ),
    );
  }
});

/** How many jobs match. */
export function jobCount(filter: JobFilter) {
  return queryOptions({
    queryKey: [...jobsKey, "count", filter],
    queryFn: async () => {
      const total = await countOf(filter);
      if (total instanceof Error) throw total;
      if (total === null || total === undefined) throw new ProblemError(unavailable());
      return total;
    },
    refetchInterval: every(10_000),
  });
}

/** What there is to choose from among jobs that match, each with how many jobs have it. */
export function jobFacets(filter: JobFilter) {
  return queryOptions({
    queryKey: [...jobsKey, "facets", filter],
    queryFn: ({ signal }) => dataOf(api.GET("/api/v1/jobs/facets", { signal, params: { query: filter } })),
    placeholderData: keepPreviousData,
    staleTime: 5000,
  });
}

/** Of so many failing jobs those that fail longest are shown, by so many of their runs. */
const failingLooked = 50;
export const failingRuns = 8;

interface Failing {
  items: JobItem[];
  total: number;
}

/**
 * The jobs that failed last, but with other errors than those given, and how many there are. A few runs of each
 * tell since when. Where it is known that there are none, nobody is asked; what was shown before that is forgotten.
 */
export function failingJobs(last: Status[], errors: string[], none: boolean, within: string[] = []) {
  const terms = [...within, ...errors.map((e) => `-error:${e}`)];
  const where = terms.length > 0 ? terms : undefined;
  return queryOptions({
    queryKey: [...jobsKey, "failing", last, errors, within, none],
    queryFn: async ({ signal, client }): Promise<Failing> => {
      if (none) {
        const asked = (of: readonly unknown[]) => of.at(-1) === false;
        client.removeQueries({ queryKey: [...jobsKey, "failing"], predicate: (q) => asked(q.queryKey) });
        return { items: [], total: 0 };
      }
      return dataOf(
        api.GET("/api/v1/jobs", {
          signal,
          params: { query: { last, where, fires: 0, runs: failingRuns, limit: failingLooked } },
        }),
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: every(3000),
  });
}

/** The most errors that are told apart, besides those of a single job. */
const mostAlike = 20;

/** How many jobs' last run failed, and which errors several jobs share, those of most jobs first. */
export function failedLast(last: Status[], where: string[] | undefined) {
  return queryOptions({
    queryKey: [...jobsKey, "errors", last, where],
    queryFn: async ({ signal }) => {
      const query = { last, where };
      const { total, items } = await dataOf(api.GET("/api/v1/jobs/facets", { signal, params: { query } }));
      const shared = (items.error ?? []).filter((e) => e.count > 1 && e.value !== "none").slice(0, mostAlike);
      return { total, shared, others: total - shared.reduce((n, e) => n + e.count, 0) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: every(5000),
  });
}

/** Jobs that are paused because they failed. */
export const gaveUp = (within: string[] = []): JobFilter => ({ where: ["state:gave_up", ...within] });

/** The one of them that was paused last, and how many there are. */
export const gaveUpJobs = (within: string[] | undefined) =>
  queryOptions({
    queryKey: [...jobsKey, "gave up", within],
    queryFn: async ({ signal }) => {
      const query = { ...gaveUp(within), sort: "-changed", fires: 0, runs: 0, limit: 1 };
      const { total, items } = await dataOf(api.GET("/api/v1/jobs", { signal, params: { query } }));
      return { jobs: total, job: items[0]?.definition };
    },
    refetchInterval: every(10_000),
  });

/** A few jobs by name, for the palette and for suggestions. */
export function jobSearch(q: string, limit = 8) {
  return queryOptions({
    queryKey: [...jobsKey, "search", q, limit],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/jobs", { signal, params: { query: { q, fires: 1, runs: 1, limit } } })),
    placeholderData: keepPreviousData,
    staleTime: 5000,
  });
}

/** The jobs of a group without their runs, a thousand at most. */
export function jobsOfGroup(group: string) {
  return queryOptions({
    queryKey: [...jobsKey, "group", group],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/jobs", { signal, params: { query: { group, fires: 0, runs: 0, limit: 1000 } } }),
      ),
    staleTime: 10_000,
  });
}

/** A job and its ETag. */
export interface LoadedJob {
  item: JobItem;
  etag: string;
}

export const jobKey = (ref: JobRef) => [...jobsKey, "one", ref.group, ref.name] as const;

/** How many of its last runs a job is shown with. */
export const lastRuns = 72;

export function jobQuery(ref: JobRef, fires = 12, runs = lastRuns) {
  return queryOptions({
    queryKey: [...jobKey(ref), fires, runs],
    queryFn: async ({ signal }): Promise<LoadedJob> => {
      const item = await dataOf(
        api.GET("/api/v1/jobs/{group}/{name}", { signal, params: { path: ref, query: { fires, runs } } }),
      );
      return { item, etag: `"${item.revision}"` };
    },
    refetchInterval: every(2000),
  });
}

/** Some jobs by name, each with its last runs, in one request: for lists in which the jobs do not change by themselves. */
export function namedJobs(names: string[], runs: number) {
  const job = [...new Set(names)].sort();
  return queryOptions({
    queryKey: [...jobsKey, "named", job, runs],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/jobs", { signal, params: { query: { job, fires: 0, runs, limit: job.length } } }),
      ),
    select: ({ items }) => new Map(items.map((item) => [item.definition.job, item])),
    enabled: job.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export function versionsQuery(ref: JobRef) {
  return queryOptions({
    queryKey: [...jobsKey, "versions", ref.group, ref.name],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/jobs/{group}/{name}/versions", { signal, params: { path: ref } })),
  });
}

export function jobPreview(ref: JobRef, n: number, from?: string) {
  return queryOptions({
    queryKey: [...jobsKey, "preview", ref.group, ref.name, n, from],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/jobs/{group}/{name}/preview", {
          signal,
          params: { path: ref, query: { n, from, requested: true } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

/** Pauses a job, until an instant or for good. */
export function pauseJob(ref: JobRef, note: string, until?: string) {
  return dataOf(
    api.POST("/api/v1/jobs/{group}/{name}/pause", { params: { path: ref }, body: { note, until } }),
  );
}

export function resumeJob(ref: JobRef) {
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/resume", { params: { path: ref }, body: {} }));
}

/** Calls off one fire that is ahead. */
export function skipFire(ref: JobRef, fireTime: string, reason: string) {
  const body = { fire_time: fireTime, reason };
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/skip", { params: { path: ref }, body }));
}

/** Has a fire run after all that was called off. */
export function unskipFire(ref: JobRef, fireTime: string) {
  const body = { fire_time: fireTime };
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/unskip", { params: { path: ref }, body }));
}

/** Runs a fire that is ahead now, and not again when it comes. */
export function runEarly(ref: JobRef, fireTime: string, reason: string) {
  const body = { fire_time: fireTime, reason };
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/run-early", { params: { path: ref }, body }));
}

/** Runs a job now: with its own parameters and labels, or with others in their place. */
export function runJob(
  ref: JobRef,
  params?: unknown,
  labels?: Record<string, string>,
  cause: "manual" | "test" = "manual",
) {
  const body = {
    cause,
    ...(params !== undefined && { params }),
    ...(labels !== undefined && { labels }),
  };
  return dataOf(api.POST("/api/v1/jobs/{group}/{name}/run", { params: { path: ref }, body }));
}

export async function deleteJob(ref: JobRef): Promise<void> {
  // A page that is left while it asks does not take the request with it.
  await api.DELETE("/api/v1/jobs/{group}/{name}", { params: { path: ref }, keepalive: true });
}

/** Changes up to 1000 jobs, and returns what became of each; a dry run only says what would. */
export function changeJobs(change: JobBulk) {
  return dataOf(api.POST("/api/v1/jobs/bulk", { body: change }));
}

export interface SaveOptions {
  /** The ETag that the job must still have; undefined for a job that must not exist. */
  etag: string | undefined;
  note?: string;
  dryRun?: boolean;
}

export function saveJob(job: Job, { etag, note, dryRun }: SaveOptions) {
  return dataOf(
    api.PUT("/api/v1/jobs/{group}/{name}", {
      params: {
        path: refOf(job.job),
        query: { note: note || undefined, dry_run: dryRun },
        header: etag ? { "If-Match": etag } : { "If-None-Match": "*" },
      },
      body: job,
    }),
  );
}

/** The key of a dry run of one change of many jobs. */
export const bulkTrialKey = (change: JobBulk, jobs: string[]) =>
  [...jobsKey, "review", change, jobs] as const;

/** After a change: what is on the screen is asked for again. */
export function refreshJobs(client: QueryClient) {
  return client.invalidateQueries({ queryKey: jobsKey });
}

/** The names of all jobs that match. */
export async function namesMatching(filter: JobFilter): Promise<ReadonlySet<string>> {
  return new Set((await allMatching(filter)).map((d) => d.job));
}

export async function allMatching(filter: JobFilter): Promise<JobVersion[]> {
  const all: JobVersion[] = [];
  let cursor: string | undefined;
  do {
    const page = await dataOf(
      api.GET("/api/v1/jobs", { params: { query: { ...filter, fires: 0, runs: 0, limit: 1000, cursor } } }),
    );
    all.push(...page.items.map((i) => i.definition));
    cursor = page.next;
  } while (cursor);
  return all;
}
