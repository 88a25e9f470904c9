import { quantile } from "./stats";

const perDay = 96;

/** A window of each day, in quarters of an hour from midnight. */
export interface Window {
  from: number;
  /** Exclusive. */
  to: number;
  /** How much the busiest of its quarters has, of all days. */
  most: number;
}

/**
 * The longest window of the day in which little happens, whatever the day: in none of its quarters
 * more than in a quarter of the way from the quietest to the usual. Undefined where no
 * time of day is quieter than another. Parts are quarters of an hour from a midnight on, those
 * that have passed undefined.
 */
export function quietWindow(parts: (number | undefined)[]): Window | undefined {
  const most = Array.from({ length: perDay }, (_, q) =>
    Math.max(0, ...parts.filter((_, i) => i % perDay === q).map((n) => n ?? 0)),
  );
  const least = Math.min(...most);
  const usual = most.reduce((a, b) => a + b, 0) / perDay;
  if (usual - least < usual / 10) return undefined;
  const quiet = (q: number) => (most[q] ?? 0) <= least + (usual - least) / 4;
  let best: Window | undefined;
  for (let from = 0; from < perDay; from++) {
    let to = from;
    while (to < perDay && quiet(to)) to++;
    if (to - from > (best ? best.to - best.from : 0))
      best = { from, to, most: Math.max(...most.slice(from, to)) };
    from = to;
  }
  return best;
}

/** Fires by minute of the hour as a zone has them, of those by minute of the hour in UTC. */
export function zoneMinutes(minutes: number[], offset: number): number[] {
  const n = minutes.length;
  return minutes.map((_, m) => minutes[(((m - offset) % n) + n) % n] ?? 0);
}

/** Milliseconds as minutes, to a tenth; what is less than that, but not nothing, says so. */
export function minutesOf(ms: number, write: (n: number) => string): string {
  const tenths = Math.round(ms / 6000);
  return ms > 0 && tenths === 0 ? `<${write(0.1)}` : write(tenths / 10);
}

/** Shares of the values below which the shades end, but for the darkest. */
const shades = [0.25, 0.75, 0.9, 0.98];
/** What differs from the median by less than this share of it is like it. */
const alike = 0.02;

/**
 * A shade for each value, from 0 (nothing) to 5, by its rank among all of them: so a few high ones do not
 * make all others pale, nor a high floor all of them dark. Values that are much alike have the same.
 */
export function shadesOf(values: (number | undefined)[]): (n: number) => number {
  const some = values.filter((v): v is number => v !== undefined && v > 0);
  const median = quantile(some, 0.5) ?? 0;
  const limits = shades.map((p) => quantile(some, p) ?? 0);
  return (n) => {
    if (n === 0) return 0;
    if (Math.abs(n - median) <= median * alike) return 2;
    return 1 + limits.filter((limit) => n > limit).length;
  };
}
