import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { runQuery, runsKey } from "./runs";
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
