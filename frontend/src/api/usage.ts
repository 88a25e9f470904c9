import { queryOptions } from "@tanstack/react-query";
import { always } from "@/lib/every";
import type { JobRef } from "@/lib/jobref";
import { api, dataOf } from "./client";
import { groupKey } from "./groups";
import { jobKey } from "./jobs";

/** What the usage is of: a group, or one job. */
export type Usage = { group: string; job?: undefined } | { job: JobRef; group?: undefined };

interface Asked {
  from: number;
  to: number;
  parts: number;
}

/** How busy a group or a job was, in equal parts of a range. It is requested four times in each part. */
export function usageQuery(of: Usage, { from, to, parts }: Asked) {
  const iso = (ms: number) => new Date(ms).toISOString();
  const query = { from: iso(from), to: iso(to), parts };
  const kept = [...(of.job ? jobKey(of.job) : groupKey(of.group)), "usage", to - from];
  return queryOptions({
    queryKey: [...kept, query],
    queryFn: ({ signal }) =>
      of.job
        ? dataOf(api.GET("/api/v1/jobs/{group}/{name}/usage", { signal, params: { path: of.job, query } }))
        : dataOf(
            api.GET("/api/v1/groups/{group}/usage", {
              signal,
              params: { path: { group: of.group }, query },
            }),
          ),
    // Those of something else or of another range are not those of this one.
    placeholderData: (was, q) => (kept.every((part, i) => q?.queryKey[i] === part) ? was : undefined),
    refetchInterval: always((to - from) / parts / 4),
  });
}
