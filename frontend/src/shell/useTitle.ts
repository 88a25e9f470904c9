import { useQuery } from "@tanstack/react-query";
import { titleQuery } from "@/api/titles";

/** What people call a job; empty if by its name, or while that is not known. */
export function useTitle(job: string | undefined): string {
  return useQuery({ ...titleQuery(job ?? ""), enabled: job !== undefined, retry: false }).data ?? "";
}
