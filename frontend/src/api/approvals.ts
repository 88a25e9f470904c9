import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { api, dataOf } from "./client";
import { runsKey } from "./runs";

/** The steps that wait for approval in the groups that one can see, the oldest first. All of the console asks this once. */
export const approvalsQuery = queryOptions({
  queryKey: [...runsKey, "approvals"],
  queryFn: ({ signal }) => dataOf(api.GET("/api/v1/approvals", { signal })),
  placeholderData: keepPreviousData,
  refetchInterval: every(10_000),
  retry: false,
});
