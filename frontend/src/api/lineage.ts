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

/** The run that a run follows or repeats. */
export function parentOf(detail: RunDetail): string | undefined {
  return detail.attempts[0]?.parent_run_id;
}

/** The ancestors of a run, the nearest first. */
export function ancestors(client: QueryClient, detail: RunDetail) {
  const parent = parentOf(detail);
  return queryOptions({
    queryKey: [...runsKey, "ancestors", detail.run_id, parent],
    enabled: parent !== undefined,
    queryFn: async () => {
      const found: Ancestor[] = [];
      for (let id = parent; id !== undefined && found.length < mostAncestors; ) {
        const run = await client.fetchQuery({ ...runQuery(id), retry: 1 }).catch(() => undefined);
        found.push({ id, steps: found.length + 1, ...(run && { run }) });
        id = run && parentOf(run);
      }
      return found;
    },
  });
}
