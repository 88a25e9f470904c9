import type { RerunRequest, RerunStep, RunStep, Status } from "@/api/schema.gen";
import { isLiving } from "@/lib/status";
import { isBad } from "./steps";

/** Which steps of a workflow a rerun repeats. */
export type Repeats = "all" | "failed" | "from";

/** What a rerun is asked for so that it repeats these steps. */
export function wishFor(repeats: Repeats, from: string): Pick<RerunRequest, "steps" | "from"> {
  return repeats === "from" ? { from: [from] } : { steps: repeats };
}

/** The step from which one probably wants to go on: the first that ended badly, else the first. */
export function startOf(steps: readonly RunStep[]): string {
  return (steps.find((s) => isBad(s.state)) ?? steps[0])?.step ?? "";
}

/** Whether a step can be retried or resolved: its run is alive, and it ended badly or was cancelled. */
export const isRecoverable = (run: Status, step: RunStep): boolean =>
  isLiving(run) && (isBad(step.state) || step.state === "cancelled");

export const rerunActions = ["take", "run", "decide"] as const satisfies RerunStep["action"][];

/** How many steps of a plan are taken over, run, and are decided, without zeros. */
export function tallyOf(plan: readonly RerunStep[]): { action: RerunStep["action"]; n: number }[] {
  return rerunActions
    .map((action) => ({ action, n: plan.filter((s) => s.action === action).length }))
    .filter(({ n }) => n > 0);
}
