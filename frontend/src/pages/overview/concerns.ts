import { failingRuns } from "@/api/jobs";
import type {
  ChannelItem,
  Deadline,
  Group,
  JobFacet,
  JobItem,
  JobVersion,
  Reason,
  Run,
} from "@/api/schema.gen";
import { healthOf, isCut } from "@/lib/stats";

/** Something that needs somebody. The id stays the same while it lasts. */
export type Concern = { id: string } & (
  | { kind: "unowned"; shards: number }
  | { kind: "lost"; group: string; instance: string; at: string }
  | { kind: "empty"; group: string }
  | { kind: "stuck"; group: string; runs: number; at: string }
  | { kind: "several"; of: "empty" | "stuck" | "lost"; names: string[] }
  | { kind: "channels"; channels: ChannelItem[] }
  | { kind: "gaveUp"; jobs: number; job: JobVersion }
  | { kind: "alike"; jobs: number; error: string; message: Reason | undefined }
  | { kind: "job"; run: Run; title: string | undefined; streak: number; more: boolean }
  | { kind: "late"; runs: Deadline[] }
  | { kind: "dead"; letters: number }
  | { kind: "missed"; fires: number }
);

export interface Known {
  unowned: number;
  groups: Group[];
  /** Channels to which messages do not get through. */
  channels: ChannelItem[];
  /** How many jobs are paused because they failed, and the newest of them. */
  gaveUp: { jobs: number; job: JobVersion | undefined };
  /** Errors that several jobs share, each with how many. */
  alike: JobFacet[];
  /** Jobs that fail with an error of their own. */
  failing: JobItem[];
  /** Live runs that will likely miss their deadlines. */
  late: Deadline[];
  /** Messages that were refused. */
  dead: number;
  /** Fires of the last hour that were missed. */
  missed: number;
  now: number;
}

/** Whoever waits for so long does not wait for a slot that is about to be free. */
const stuckAfter = 5 * 60_000;

/**
 * What needs attention: a row for each cause, the gravest first. That is: causes that stop many jobs, alerts
 * that do not arrive, jobs that paused themselves, and failing jobs, the largest and oldest causes first.
 */
export function concernsOf(known: Known): Concern[] {
  const { unowned, groups, channels, gaveUp, alike, failing, late, dead, missed, now } = known;
  const list: Concern[] = [];
  if (unowned > 0) list.push({ id: "unowned", kind: "unowned", shards: unowned });
  const empty = groups.filter((g) => g.state === "empty").map((g) => g.executor_group);
  const lost = groups.flatMap((g) => g.instances.filter((i) => i.state === "lost"));
  list.push(
    ...together(empty.map((group) => ({ id: `empty ${group}`, kind: "empty", group }))),
    ...together(stuckIn(groups, now)),
    ...together(
      lost.map(({ executor_group: group, instance, at }) => ({
        id: `lost ${group}/${instance}`,
        kind: "lost",
        group,
        instance,
        at,
      })),
    ),
  );
  if (channels.length > 0) {
    const names = channels.map((c) => c.definition.channel);
    list.push({ id: `channels ${names.join(" ")}`, kind: "channels", channels });
  }
  const { job, jobs } = gaveUp;
  if (job && jobs > 0) list.push({ id: `gave up ${jobs} ${job.job}`, kind: "gaveUp", jobs, job });
  list.push(
    ...alike.map(({ value: error, count, message }) => ({
      id: `error ${error}`,
      kind: "alike" as const,
      jobs: count,
      error,
      message,
    })),
    ...failingJobs(failing),
  );
  const [firstLate] = late;
  if (firstLate) list.push({ id: `late ${late.length} ${firstLate.run_id}`, kind: "late", runs: late });
  if (dead > 0) list.push({ id: "dead", kind: "dead", letters: dead });
  if (missed > 0) list.push({ id: "missed", kind: "missed", fires: missed });
  return list;
}

type Single = Extract<Concern, { kind: "lost" | "empty" | "stuck" }>;

/** One by itself; several of a kind as one. */
function together(all: Single[]): Concern[] {
  const [first] = all;
  if (!first || all.length < 2) return all;
  const names = all.map((c) => (c.kind === "lost" ? c.instance : c.group));
  return [{ id: `${first.kind} ${names.join(" ")}`, kind: "several", of: first.kind, names }];
}

/** Groups that have executors, and in which a run waits for one of them for long; the one that waits longest first. */
function stuckIn(groups: Group[], now: number): Single[] {
  return groups
    .flatMap((g): Extract<Concern, { kind: "stuck" }>[] => {
      const { executor_group: group, waiting_runs: runs = 0, waiting_since: at } = g;
      if (g.state === "empty" || !at || now - Date.parse(at) < stuckAfter) return [];
      return [{ id: `stuck ${group}`, kind: "stuck", group, runs, at }];
    })
    .sort((a, b) => a.at.localeCompare(b.at));
}

function failingJobs(failing: JobItem[]): Concern[] {
  return failing
    .flatMap(({ definition: { title }, last_runs: runs }) => {
      const [run] = runs ?? [];
      if (!runs || !run) return [];
      const { streak } = healthOf(runs);
      const more = isCut(runs, streak, failingRuns);
      return {
        id: `job ${run.job}`,
        kind: "job" as const,
        run,
        title,
        streak,
        more,
        since: runs[streak - 1]?.fire_time,
      };
    })
    .sort((a, b) => b.streak - a.streak || (a.since ?? "").localeCompare(b.since ?? ""))
    .map(({ since, ...concern }) => concern);
}
