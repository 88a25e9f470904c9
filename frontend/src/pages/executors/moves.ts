import type { Group, JobFacet } from "@/api/schema.gen";

/** Is on each job that was imported from XXL-JOB. */
export const tag = "xxl-job";

/** How far a group has come: no executor of it is here; executors are, and its jobs are paused; jobs fire here. */
export type Stage = "away" | "attached" | "moved";

export interface Move {
  group: string;
  /** How many jobs were imported, and how many of them are paused here, by themselves or with others. */
  jobs: number;
  paused: number;
  /** The kinds of executors that are online, such as "xxl-job/B 3.3". */
  attached: string[];
  stage: Stage;
}

/** Groups that need work come first. everything says that all jobs of the cluster are paused. */
export function movesOf(
  imported: JobFacet[],
  paused: JobFacet[],
  groups: Group[],
  everything: boolean,
): Move[] {
  const stopped = new Map(paused.map((f) => [f.value, f.count]));
  return imported
    .map(({ value: group, count: jobs }) => {
      const known = groups.find((g) => g.executor_group === group);
      const online = known?.instances.filter((i) => i.state !== "lost") ?? [];
      const attached = [...new Set(online.map((i) => [i.sdk, i.version].filter(Boolean).join(" ")))].sort();
      const held = everything || known?.pause?.paused === true;
      const move = { group, jobs, paused: held ? jobs : (stopped.get(group) ?? 0), attached };
      return { ...move, stage: stageOf(move) };
    })
    .sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || a.group.localeCompare(b.group));
}

/** Whether there is more to do. While everything is paused, groups that are all here are no news of a move. */
export function isMoving(moves: Move[], everything: boolean): boolean {
  return moves.some((m) => m.stage === "away" || (m.stage === "attached" && !everything));
}

const order: Stage[] = ["away", "attached", "moved"];

function stageOf(m: Omit<Move, "stage">): Stage {
  if (m.attached.length === 0) return "away";
  return m.paused === m.jobs ? "attached" : "moved";
}
