import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";

/** How many titles one request asks for at most. */
const most = 50;
/** All that one page shows is asked together: for so long, in ms, more may join. */
const together = 5;

/** What people call a job, and who owns it; empty where there is none. */
export interface Called {
  title: string;
  owner: string;
}

let batch: { jobs: Set<string>; called: Promise<(job: string) => Called> } | undefined;

/** A page asks for all its jobs at once. */
function calledOf(job: string): Promise<Called> {
  if (!batch || batch.jobs.size >= most) {
    const jobs = new Set<string>();
    const ask = async () => {
      await new Promise((resolve) => setTimeout(resolve, together));
      if (batch?.jobs === jobs) batch = undefined;
      const query = { job: [...jobs] };
      const { titles, owners } = await dataOf(api.GET("/api/v1/jobs/titles", { params: { query } }));
      return (one: string) => ({ title: titles[one] ?? "", owner: owners[one] ?? "" });
    };
    batch = { jobs, called: ask() };
  }
  batch.jobs.add(job);
  return batch.called.then((of) => of(job));
}

export function calledQuery(job: string) {
  return queryOptions({
    queryKey: ["called", job],
    queryFn: () => calledOf(job),
    staleTime: 60_000,
    gcTime: 30 * 60_000,
  });
}
