import type { Alert, Job } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";
import { type Kind, kindOf } from "./conditions";

/** Conditions about the runs of a job. */
const ofRuns: readonly Kind[] = ["ends", "starts_within", "ends_within", "slower_than_p95", "discrepancy"];

/** Whether an alert rule that is switched on is about a job: its runs, or that its group has no executor. */
export function covers(
  { disabled, match, when }: Alert,
  { job, labels = {} }: Pick<Job, "job" | "labels">,
): boolean {
  const isIn = (all: string[] | undefined, one: string) => !all || all.length === 0 || all.includes(one);
  if (disabled || !isIn(match?.groups, refOf(job).group)) return false;
  if (!ofRuns.includes(kindOf(when))) return kindOf(when) === "no_executor_for";
  return (
    isIn(match?.jobs, job) &&
    Object.entries(match?.labels ?? {}).every(([label, value]) => labels[label] === value)
  );
}
