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

/** Milliseconds as minutes, to a tenth. */
export function toMinutes(ms: number): number {
  return Math.round(ms / 6000) / 10;
}
