import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { JobRef } from "@/lib/jobref";
import type { Scope } from "@/lib/scope";
import { api, dataOf } from "./client";
import type { Outcome } from "./schema.gen";

/** What became of the fires of all jobs, by job and day. */
export function ledgerAudit(range: { from?: string; to?: string } & Scope) {
  return infiniteQueryOptions({
    queryKey: ["ledger", "all", range],
    queryFn: ({ pageParam, signal }) =>
      dataOf(api.GET("/api/v1/ledger", { signal, params: { query: { ...range, cursor: pageParam } } })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** The newest of what the continuous audit found, healed or not. */
export function discrepanciesFound(range: { from?: string; to?: string } & Scope) {
  return queryOptions({
    queryKey: ["ledger", "found", range],
    queryFn: ({ signal }) =>
      dataOf(
        api.GET("/api/v1/ledger/discrepancies", { signal, params: { query: { ...range, limit: 100 } } }),
      ),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

/** Every fire that a job owed, newest first; for a workflow with the steps, and with the runs that no schedule asked for. */
export function jobLedger(
  ref: JobRef,
  range: { from?: string; to?: string },
  outcome: Outcome[] | undefined,
) {
  return infiniteQueryOptions({
    queryKey: ["ledger", "job", ref.group, ref.name, range, outcome],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET("/api/v1/jobs/{group}/{name}/ledger", {
          signal,
          params: { path: ref, query: { ...range, outcome, steps: true, limit: 200, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    retry: false,
  });
}
