import type { LogHistogram, LogHit } from "@/api/schema.gen";

/** The lines of the runs that fired in a part of a range, by how bad they are. */
export interface LevelBar {
  from: number;
  to: number;
  error: number;
  warn: number;
  rest: number;
  /** Else the server had no time left for it. */
  counted: boolean;
}

/** The bars of a histogram, the oldest first. */
export function levelBars({ buckets, since, to }: LogHistogram): LevelBar[] {
  return buckets.map((b, i) => ({
    from: Date.parse(b.at),
    to: Date.parse(buckets[i + 1]?.at ?? to),
    error: b.error,
    warn: b.warn,
    rest: b.debug + b.info + b.other,
    counted: Date.parse(b.at) >= Date.parse(since),
  }));
}

/** How many lines some bars stand for. */
export function linesIn(bars: LevelBar[]): number {
  return bars.reduce((n, b) => n + b.error + b.warn + b.rest, 0);
}

/** The newest first, whatever run printed them. Those of one attempt stay in their own order. */
export function newestFirst(lines: LogHit[]): LogHit[] {
  return [...lines].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.seq - a.seq);
}
