import { useQueries, useQuery } from "@tanstack/react-query";
import { calledQuery } from "@/api/titles";

/** What people call a job; empty if by its name, or while that is not known. */
export function useTitle(job: string | undefined): string {
  const known = useQuery({ ...calledQuery(job ?? ""), enabled: job !== undefined, retry: false }).data;
  return known?.title ?? "";
}

/** The owners of those of some jobs that have one. */
export function useOwners(jobs: string[]): Record<string, string> {
  const some = [...new Set(jobs)];
  return useQueries({
    queries: some.map((job) => ({ ...calledQuery(job), retry: false })),
    combine: (all) => Object.fromEntries(all.map((one, i) => [some[i], one.data?.owner ?? ""])),
  });
}
