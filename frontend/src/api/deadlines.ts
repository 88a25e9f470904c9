import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { api, dataOf } from "./client";
import { runsKey } from "./runs";

/** By when live runs must end, and whether they likely will: of one run, or of the newest ones. */
export function deadlinesQuery(runId?: string) {
  return queryOptions({
    queryKey: [...runsKey, "deadlines", runId],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/deadlines", { params: { query: { run_id: runId } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: every(10_000),
    retry: false,
  });
}
