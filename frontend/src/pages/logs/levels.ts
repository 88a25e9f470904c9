import type { LogLine } from "@/api/schema.gen";

/** The lines that were printed in a part of a range, by how bad they are. */
export interface LevelBar {
  from: number;
  to: number;
  error: number;
  warn: number;
  rest: number;
  /** The place of one of them among all lines: the first that one comes by. */
  first: number | undefined;
}

/** The least that a bar is long. */
const shortest = 100;

/** Lines over the time in which they were printed, in equal parts; none of none. */
export function levelBars(lines: LogLine[], parts: number): LevelBar[] {
  if (lines.length === 0) return [];
  const times = lines.map((l) => Date.parse(l.at));
  const from = times.reduce((a, b) => Math.min(a, b));
  const to = times.reduce((a, b) => Math.max(a, b));
  const part = Math.max(shortest, Math.ceil((to + 1 - from) / parts));
  const bars = Array.from({ length: parts }, (_, i): LevelBar => {
    const at = from + i * part;
    return { from: at, to: at + part, error: 0, warn: 0, rest: 0, first: undefined };
  });
  for (const [i, line] of lines.entries()) {
    const bar = bars[Math.floor(((times[i] ?? from) - from) / part)];
    if (!bar) continue;
    if (line.level === "error") bar.error++;
    else if (line.level === "warn") bar.warn++;
    else bar.rest++;
    bar.first ??= i;
  }
  return bars;
}

/** The newest first, whatever run printed them. Those of one attempt stay in their own order. */
export function newestFirst(lines: LogLine[]): LogLine[] {
  return [...lines].sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.seq - a.seq);
}
