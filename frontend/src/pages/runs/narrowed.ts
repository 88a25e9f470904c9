import type { breakdowns } from "@/router";

/** What narrows the rows of each kind: counts are not kept by more. Undefined: everything does. */
export const narrowedBy: Record<(typeof breakdowns)[number], readonly string[] | undefined> = {
  job: ["group", "job"],
  instance: ["group"],
  error: undefined,
};
