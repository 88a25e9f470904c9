import type { Job } from "@/api/schema.gen";

/** Whether the runs of a job are done elsewhere: no executor does them, and pings report them. */
export const runsElsewhere = (job: Job | undefined) => job?.task?.watch !== undefined;
