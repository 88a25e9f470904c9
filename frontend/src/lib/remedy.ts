import type { Reason } from "@/api/schema.gen";

/** Where one can do something about a reason for which nothing runs. */
export type Remedy =
  | { of: "executors" }
  | { of: "runs" }
  | { of: "everything" }
  | { of: "run"; runId: string };

const remedies: Partial<Record<string, Remedy["of"]>> = {
  group_empty: "executors",
  group_waits: "executors",
  nobody_takes_work: "executors",
  nobody_takes_work_with: "executors",
  nobody_runs_kind: "executors",
  nobody_runs_kind_with: "executors",
  nobody_has_handler: "executors",
  nobody_has_handler_with: "executors",
  nobody_free: "executors",
  nobody_free_with: "executors",
  waits_for_online: "executors",
  waits_for_labels: "executors",
  all_slots_busy: "executors",
  waits_for_limit: "executors",
  waits_for_rate: "executors",
  waits_for_limits: "executors",
  group_paused: "executors",
  group_paused_until: "executors",
  instance_went_silent: "executors",
  waits_for_key: "run",
  waits_for_total: "runs",
  waits_for_runs: "runs",
  waits_to_replace: "runs",
  everything_paused: "everything",
  everything_paused_until: "everything",
  failures_in_a_row: "run",
};

/** What helps against a reason; undefined where nothing does but to wait. */
export function remedyOf(reason: Reason | undefined): Remedy | undefined {
  if (!reason) return undefined;
  const of = reason.code && remedies[reason.code];
  if (!of) return remedyOf(reason.and);
  if (of !== "run") return { of };
  const runId = reason.params?.run_id;
  return runId ? { of, runId } : undefined;
}
