import type { breakdowns } from "@/router";

/** What narrows the rows of each kind: counts are not kept by more. */
export const narrowedBy: Record<(typeof breakdowns)[number], readonly string[]> = {
  job: ["group", "job"],
  instance: ["group"],
};
