import type { Run } from "@/api/schema.gen";
import { beganAt, durationOf, isFailure } from "./status";

/** A bar of a lane, in pixels from the left of the plot. */
export interface LaneBar {
  x: number;
  width: number;
  /** The run, of a bar that is one. */
  run: Run | undefined;
  /** When the fire is due, of a bar that is one, in ms. */
  fire?: number;
  /** How many runs or fires the bar stands for. */
  n: number;
  /** One of them failed. */
  bad: boolean;
  /** Of planned fires: they would be skipped. */
  off?: boolean;
  /** Bars of one lane that overlap are on different levels, from 0 at the top. */
  level: number;
}

/** A bar narrower than this cannot be told from its neighbour, or hit. */
const narrow = 4;
const gap = 1;
/** With more at once than this, the last level has several on top of each other: they could not be told apart. */
const mostLevels = 4;

/** Lays out the runs of one lane, from the left to the right. Bars that would be too narrow to tell apart become one, which shows a failure if one is in it. */
export function runBars(runs: Run[], now: number, x: (at: number) => number): LaneBar[] {
  const bars: LaneBar[] = [];
  for (const run of [...runs].sort((a, b) => a.fire_time.localeCompare(b.fire_time))) {
    const from = Date.parse(beganAt(run) ?? run.fire_time);
    const left = x(from);
    const width = Math.max(narrow, x(from + (durationOf(run, now) ?? 0)) - left);
    const last = bars.at(-1);
    if (last && left < last.x + last.width + gap && width <= narrow * 2 && last.width <= narrow * 12) {
      last.width = Math.max(last.width, left + width - last.x);
      last.n += run.count;
      last.bad ||= isFailure(run.status);
      // The bar opens its first failure, else its newest run.
      if (!last.run || !isFailure(last.run.status)) last.run = run;
    } else {
      bars.push({ x: left, width, run, n: run.count, bad: isFailure(run.status), level: 0 });
    }
  }
  return bars;
}

/** Lays out planned fires, each as long as a run usually takes. Those too close to tell apart become one, unless only some would be skipped. */
export function fireBars(
  fires: string[],
  usual: number,
  x: (at: number) => number,
  skipped: (at: string) => boolean,
): LaneBar[] {
  const bars: LaneBar[] = [];
  for (const fire of fires) {
    const at = Date.parse(fire);
    const left = x(at);
    const width = Math.max(narrow, x(at + usual) - left);
    const last = bars.at(-1);
    const off = skipped(fire);
    if (last && last.off === off && left < last.x + last.width + gap) {
      last.width = Math.max(last.width, left + width - last.x);
      last.n++;
      last.fire = undefined;
    } else bars.push({ x: left, width, run: undefined, fire: at, n: 1, bad: false, level: 0, off });
  }
  return bars;
}

/** Gives bars that overlap different levels, each the topmost that is free. Returns how many levels there are. */
export function stackBars(bars: LaneBar[]): number {
  const ends: number[] = [];
  for (const b of bars) {
    const free = ends.findIndex((end) => end <= b.x);
    b.level = free >= 0 ? free : Math.min(ends.length, mostLevels - 1);
    ends[b.level] = Math.max(ends[b.level] ?? 0, b.x + b.width);
  }
  return Math.max(1, ends.length);
}
