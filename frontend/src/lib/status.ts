import type { Run, Status } from "@/api/schema.gen";

/** The colours of the system. Each status has one; success alone is pale in charts. */
export type Tone = "ok" | "bad" | "run" | "warn" | "time" | "lost" | "idle";

export const tones: Record<Status, Tone> = {
  pending: "idle",
  queued: "idle",
  running: "run",
  succeeded: "ok",
  failed: "bad",
  timed_out: "time",
  cancelled: "idle",
  lost: "lost",
  skipped: "idle",
  missed: "warn",
};

export const statuses = Object.keys(tones) as Status[];

/** What went wrong, the gravest first. */
export const failures: Status[] = ["failed", "timed_out", "lost"];
export const living: Status[] = ["running", "pending", "queued"];

export const isFailure = (s: Status): boolean => failures.includes(s);
export const isLiving = (s: Status): boolean => living.includes(s);
/** What has ended, and of which people may say that it was seen to. */
export const isMarkable = (s: Status): boolean => isFailure(s) || s === "cancelled" || s === "missed";
/** Fires that had no run. */
export const isAbsent = (s: Status): boolean => s === "skipped" || s === "missed";

/** The newest of a run's attempts, as lists have it: it stands for the whole run. The newest attempt comes first. */
export function wholeOf([newest, ...earlier]: Run[]): Run | undefined {
  const began = earlier.map((a) => a.started_at).findLast((at) => at !== undefined);
  return newest && began ? { ...newest, first_started_at: began } : newest;
}

/** When a run began: by its first attempt, if the one that is given stands for the whole run. */
export const beganAt = (run: Run): string | undefined => run.first_started_at ?? run.started_at;

/** How long a run has lasted at the given instant, in ms; undefined before its start. */
export function durationOf(run: Run, now: number): number | undefined {
  const began = beganAt(run);
  if (!began) return undefined;
  const end = run.finished_at ? Date.parse(run.finished_at) : now;
  return Math.max(0, end - Date.parse(began));
}

/** Whether a schedule asked for the run. Of what people ask for, a fire long past perhaps, nobody says that it is late. */
export const isScheduled = (run: Run): boolean => run.cause === "schedule" || run.cause === "misfire";

/** Since when a pending run waits: since its trigger is there, which may be long after the fire that it repeats. */
export const waitsSince = (run: Run): string => run.committed_at ?? run.fire_time;

/** From the fire time until its run started, in ms. */
export function delayOf(run: Run): number | undefined {
  const began = beganAt(run);
  if (!began || !isScheduled(run)) return undefined;
  return Math.max(0, Date.parse(began) - Date.parse(run.fire_time));
}
