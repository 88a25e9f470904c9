import type { Job } from "@/api/schema.gen";

/** Whether the runs of a job are done elsewhere: no executor does them, and pings report them. */
export const runsElsewhere = (job: Job | undefined) => job?.task?.watch !== undefined;

const prefix = "host:";

/** The host from which pings reported a run; empty if they named none, undefined of a run that an executor did. */
export function hostOf({
  reported,
  instance = "",
}: {
  reported?: boolean;
  instance?: string;
}): string | undefined {
  if (instance.startsWith(prefix)) return instance.slice(prefix.length);
  return reported ? instance : undefined;
}
