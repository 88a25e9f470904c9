import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { problemOf } from "@/lib/problem";
import { isLiving } from "@/lib/status";
import { api, dataOf } from "./client";
import { runsKey } from "./runs";

/** The steps of a workflow's run. A run of a job without steps is not found. */
export function stepsQuery(runId: string) {
  return queryOptions({
    queryKey: [...runsKey, "steps", runId],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/runs/{run_id}/steps", { signal, params: { path: { run_id: runId } } })),
    retry: (failures, error) => problemOf(error).code !== "not_found" && failures < 2,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data && !isLiving(state.data.status) ? false : every(1000)()),
  });
}
