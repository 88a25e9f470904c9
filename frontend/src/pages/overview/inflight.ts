import { useQuery } from "@tanstack/react-query";
import { latestRuns } from "@/api/runs";
import type { Run, StatusCounts } from "@/api/schema.gen";
import type { Scope } from "@/lib/scope";
import { living } from "@/lib/status";

/** The most runs in flight that are looked at one by one. */
const looked = 200;

/** The newest runs in flight, and how many there are: as many as the server counts where the list is cut. */
export function useInFlight(alive: StatusCounts | undefined, scope: Scope) {
  const runs = useQuery(latestRuns({ ...scope, status: living }, looked)).data?.items ?? [];
  return { runs, ...countsOf(runs, alive) };
}

/** How many run, wait for an executor, and are queued behind a run of their own job. */
export function countsOf(
  runs: readonly Pick<Run, "status">[],
  alive: StatusCounts | undefined,
): { running: number; waiting: number; queued: number } {
  if (runs.length >= looked && alive) {
    const { running = 0, pending = 0, queued = 0 } = alive;
    return { running, waiting: pending, queued };
  }
  const of = (status: Run["status"]) => runs.filter((r) => r.status === status).length;
  return { running: of("running"), waiting: of("pending"), queued: of("queued") };
}
