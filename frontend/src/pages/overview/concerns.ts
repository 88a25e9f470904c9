import { failingRuns } from "@/api/jobs";
import type { Group, JobItem, Run } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";
import { healthOf } from "@/lib/stats";

/** Something that needs somebody. The id stays the same while it lasts. */
export type Concern = { id: string } & (
  | { kind: "unowned"; shards: number }
  | { kind: "lost"; group: string; instance: string; at: string }
  | { kind: "empty"; group: string }
  | { kind: "job"; run: Run; streak: number; more: boolean }
  | { kind: "stuck"; group: string; runs: number; at: string }
  | { kind: "missed"; fires: number }
);

export interface Known {
  unowned: number;
  groups: Group[];
  failing: JobItem[];
  inFlight: Run[];
  /** Fires of the last hour that were missed. */
  missed: number;
  now: number;
}

/** Whoever waits for so long does not wait for a slot that is about to be free. */
const stuckAfter = 5 * 60_000;

/** What needs somebody, the gravest first: what stops many jobs, then jobs that fail, those that fail longest first. */
export function concernsOf({ unowned, groups, failing, inFlight, missed, now }: Known): Concern[] {
  const list: Concern[] = [];
  if (unowned > 0) list.push({ id: "unowned", kind: "unowned", shards: unowned });
  for (const { executor_group: group, instances, state } of groups) {
    for (const { instance, state, at } of instances)
      if (state === "lost") list.push({ id: `lost ${group}/${instance}`, kind: "lost", group, instance, at });
    if (state === "empty") list.push({ id: `empty ${group}`, kind: "empty", group });
  }
  const served = new Set(groups.filter((g) => g.state !== "empty").map((g) => g.executor_group));
  list.push(...stuckIn(inFlight, served, now), ...failingJobs(failing));
  if (missed > 0) list.push({ id: "missed", kind: "missed", fires: missed });
  return list;
}

/** Groups that have executors, and in which runs wait for one of them for long; the one that waits longest first. */
function stuckIn(inFlight: Run[], served: ReadonlySet<string>, now: number): Concern[] {
  const waiting = new Map<string, { runs: number; at: string }>();
  for (const { job, status, fire_time: at } of inFlight) {
    const { group } = refOf(job);
    if (status !== "pending" || !served.has(group) || now - Date.parse(at) < stuckAfter) continue;
    const was = waiting.get(group);
    waiting.set(group, { runs: (was?.runs ?? 0) + 1, at: was && was.at < at ? was.at : at });
  }
  return [...waiting]
    .sort(([, a], [, b]) => a.at.localeCompare(b.at))
    .map(([group, { runs, at }]) => ({ id: `stuck ${group}`, kind: "stuck", group, runs, at }));
}

function failingJobs(failing: JobItem[]): Concern[] {
  return failing
    .flatMap(({ last_runs: runs }) => {
      const [run] = runs ?? [];
      if (!runs || !run) return [];
      const { streak } = healthOf(runs);
      const more = streak >= failingRuns;
      return {
        id: `job ${run.job}`,
        kind: "job" as const,
        run,
        streak,
        more,
        since: runs[streak - 1]?.fire_time,
      };
    })
    .sort((a, b) => b.streak - a.streak || (a.since ?? "").localeCompare(b.since ?? ""))
    .map(({ since, ...concern }) => concern);
}
