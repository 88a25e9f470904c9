import { queryOptions } from "@tanstack/react-query";
import type { JobRef } from "@/lib/jobref";
import { api, dataOf } from "./client";

export const whyKey = ["why"] as const;

/** Why a job ran, or did not run, in the minute that begins at a time in its zone, or at an instant. */
export function whyQuery(ref: JobRef, at: string) {
  return queryOptions({
    queryKey: [...whyKey, ref.group, ref.name, at],
    queryFn: ({ signal }) =>
      dataOf(api.GET("/api/v1/jobs/{group}/{name}/why", { signal, params: { path: ref, query: { at } } })),
    retry: false,
    staleTime: 5000,
  });
}
