import { queryOptions } from "@tanstack/react-query";
import { batched } from "@/lib/batch";
import { api, dataOf } from "./client";

/** What people call a job, and who owns it; empty where there is none. */
export interface Called {
  title: string;
  owner: string;
}

/** A page asks for all its jobs at once, up to fifty. */
const calledOf = batched(50, async (job: string[]): Promise<Called[]> => {
  const { titles, owners } = await dataOf(api.GET("/api/v1/jobs/titles", { params: { query: { job } } }));
  return job.map((one) => ({ title: titles[one] ?? "", owner: owners[one] ?? "" }));
});

export function calledQuery(job: string) {
  return queryOptions({
    queryKey: ["called", job],
    queryFn: () => calledOf(job),
    staleTime: 60_000,
    gcTime: 30 * 60_000,
  });
}
