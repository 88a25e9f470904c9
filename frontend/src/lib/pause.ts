import type { Job, Pause } from "@/api/schema.gen";
import { wallToInstant } from "./format";
import { dateIn } from "./month";

/** Whether a job is paused now, and until when, if that has an end. */
export function pauseOf(
  job: Pick<Job, "paused" | "paused_until">,
  now: number,
): { until?: string } | undefined {
  if (job.paused) return {};
  return job.paused_until && Date.parse(job.paused_until) > now ? { until: job.paused_until } : undefined;
}

/** Whether a fire at an instant would be skipped, as everything is paused then. */
export const isHeldAt = (hold: Pause | undefined, at: string | number): boolean =>
  hold?.paused === true && (!hold.until || new Date(at).getTime() < Date.parse(hold.until));

/** How somebody says when a pause ends. */
export const pauseEnds = ["never", "1h", "4h", "tomorrow", "at"] as const;

export interface PauseEnd {
  choice: (typeof pauseEnds)[number];
  /** With "at": what the wall clock of the zone shows then, such as 2026-11-23T02:00. */
  wall: string;
}

export const noEnd: PauseEnd = { choice: "never", wall: "" };

/** The instant at which the pause ends, in ms; undefined when it never does, and NaN when the choice makes no sense. */
export function endOf({ choice, wall }: PauseEnd, now: number, zone: string): number | undefined {
  switch (choice) {
    case "never":
      return undefined;
    case "1h":
      return now + 3_600_000;
    case "4h":
      return now + 4 * 3_600_000;
    case "tomorrow": {
      const next = new Date(Date.parse(`${dateIn(zone, now)}T00:00Z`) + 86_400_000);
      return wallToInstant(`${next.toISOString().slice(0, 10)}T09:00`, zone);
    }
    case "at": {
      const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(wall) ? wallToInstant(wall, zone) : Number.NaN;
      return at > now ? at : Number.NaN;
    }
  }
}
