import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { runQuery, runsKey, sortedRuns, sortName } from "./runs";
import type { RunDetail } from "./schema.gen";

/** A run that another one follows, so many steps back. Without `run` it cannot be read, or is gone. */
export interface Ancestor {
  id: string;
  steps: number;
  run?: RunDetail;
}

/** How many ancestors are shown at most: a chain may be long. */
const mostAncestors = 20;

/** The runs that a run follows or repeats. */
export function parentsOf(detail: RunDetail): string[] {
  return detail.rerun_of ? [detail.rerun_of] : (detail.parents ?? []);
}

/** How many runs of a job that joins parents are looked at. */
const mostJoined = 10;

/**
 * The runs of jobs with a join that waited for this run among others. The history has them under the
 * parent that ended last only, so that the first runs of each job after this one ended are looked at.
 */
export function joinedRuns(
  client: QueryClient,
  { run_id, attempts }: RunDetail,
  jobs: string[],
  isAlive: boolean,
) {
  const from = attempts[0]?.finished_at;
  return queryOptions({
    queryKey: [...runsKey, "joined", run_id, ...jobs],
    enabled: from !== undefined && jobs.length > 0,
    queryFn: async () => {
      const found = await Promise.all(
        jobs.map(async (job) => {
          const filter = { job: [job], cause: ["parent" as const], from };
          const { items } = await client.fetchQuery(sortedRuns(filter, sortName("fire", false), mostJoined));
          for (const item of items) {
            const run = await client.fetchQuery({ ...runQuery(item.run_id), retry: 1 });
            if (run.parents?.includes(run_id)) return item;
          }
          return undefined;
        }),
      );
      return found.filter((run) => run !== undefined);
    },
    refetchInterval: isAlive ? every(3000) : false,
  });
}

/** The ancestors of a run, each once, the nearest first. */
export function ancestors(client: QueryClient, detail: RunDetail) {
  const parents = parentsOf(detail);
  return queryOptions({
    queryKey: [...runsKey, "ancestors", detail.run_id, ...parents],
    enabled: parents.length > 0,
    queryFn: async () => {
      const found = new Map<string, Ancestor>();
      for (let step = 1, ids = parents; ids.length > 0 && found.size < mostAncestors; step++) {
        const fresh = [...new Set(ids)].filter((id) => !found.has(id)).slice(0, mostAncestors - found.size);
        const runs = await Promise.all(
          fresh.map((id) => client.fetchQuery({ ...runQuery(id), retry: 1 }).catch(() => undefined)),
        );
        fresh.forEach((id, i) => {
          found.set(id, { id, steps: step, ...(runs[i] && { run: runs[i] }) });
        });
        ids = runs.flatMap((run) => (run ? parentsOf(run) : []));
      }
      return [...found.values()];
    },
  });
}
