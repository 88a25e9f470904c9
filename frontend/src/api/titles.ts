import { queryOptions } from "@tanstack/react-query";
import { api, dataOf } from "./client";

/** How many titles one request asks for at most. */
const most = 50;
/** All that one page shows is asked together: for so long, in ms, more may join. */
const together = 5;

let batch: { jobs: Set<string>; titles: Promise<Record<string, string>> } | undefined;

/** What people call a job; empty if by its name. A page asks for those of all its jobs at once. */
function titleOf(job: string): Promise<string> {
  if (!batch || batch.jobs.size >= most) {
    const jobs = new Set<string>();
    const ask = async () => {
      await new Promise((resolve) => setTimeout(resolve, together));
      if (batch?.jobs === jobs) batch = undefined;
      const query = { job: [...jobs] };
      return (await dataOf(api.GET("/api/v1/jobs/titles", { params: { query } }))).titles;
    };
    batch = { jobs, titles: ask() };
  }
  batch.jobs.add(job);
  return batch.titles.then((titles) => titles[job] ?? "");
}

export function titleQuery(job: string) {
  return queryOptions({
    queryKey: ["title", job],
    queryFn: () => titleOf(job),
    staleTime: 60_000,
    gcTime: 30 * 60_000,
  });
}
