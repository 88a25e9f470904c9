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

/** How long a run has lasted at the given instant, in ms; undefined before its start. */
export function durationOf(run: Run, now: number): number | undefined {
  if (!run.started_at) return undefined;
  const end = run.finished_at ? Date.parse(run.finished_at) : now;
  return Math.max(0, end - Date.parse(run.started_at));
}

/** From the fire time until its run started, in ms. */
export function delayOf(run: Run): number | undefined {
  if (!run.started_at || (run.cause !== "schedule" && run.cause !== "misfire")) return undefined;
  return Math.max(0, Date.parse(run.started_at) - Date.parse(run.fire_time));
}
