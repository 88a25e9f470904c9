import { useQuery } from "@tanstack/react-query";
import { latestRuns } from "@/api/runs";
import type { Run, StatusCounts } from "@/api/schema.gen";
import { living } from "@/lib/status";

/** The most runs in flight that are looked at one by one. */
const looked = 200;

/** The newest runs in flight, and how many there are: as many as the server counts where the list is cut. */
export function useInFlight(alive: StatusCounts | undefined) {
  const runs = useQuery(latestRuns({ status: living }, looked)).data?.items ?? [];
  return { runs, ...countsOf(runs, alive) };
}

export function countsOf(
  runs: readonly Pick<Run, "status">[],
  alive: StatusCounts | undefined,
): { running: number; waiting: number } {
  if (runs.length >= looked && alive) {
    const { running = 0, pending = 0, queued = 0 } = alive;
    return { running, waiting: pending + queued };
  }
  const running = runs.filter((r) => r.status === "running").length;
  return { running, waiting: runs.length - running };
}
