import type { FireCounts, RequestedRuns } from "@/api/schema.gen";

/** What is due in each interval: fires, and runs that were requested for a time in it. */
export const dueIn = ({ counts, requested }: FireCounts): number[] =>
  counts.map((n, i) => n + (requested?.[i] ?? 0));

/** When the requested runs of each job are due. */
export function requestedByJob(of: RequestedRuns | undefined): Map<string, string[]> {
  const jobs = new Map<string, string[]>();
  for (const { job, fire_time } of of?.runs ?? []) jobs.set(job, [...(jobs.get(job) ?? []), fire_time]);
  return jobs;
}

/** How many requested runs there are, however they are told. */
export const requestedTotal = (of: RequestedRuns | undefined): number =>
  of?.hours?.reduce((n, { runs }) => n + runs, 0) ?? of?.runs.length ?? 0;
