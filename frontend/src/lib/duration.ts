const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Writes a length of time, in ms, with at most two units, the same in every language: 38 ms, 6.2 s, 4m 12s, 3d 4h. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `−${formatDuration(-ms)}`;
  if (ms < second) return `${Math.round(ms)} ms`;
  if (ms < 9.95 * second) return `${(ms / second).toFixed(1)} s`;
  if (ms < 59.5 * second) return `${Math.round(ms / second)} s`;
  if (ms < hour - second / 2) return pair(ms, minute, "m", second, "s");
  if (ms < day - minute / 2) return pair(ms, hour, "h", minute, "m");
  return pair(ms, day, "d", hour, "h");
}

function pair(ms: number, big: number, bigUnit: string, small: number, smallUnit: string): string {
  let b = Math.floor(ms / big);
  let s = Math.round((ms - b * big) / small);
  if (s * small === big) {
    b++;
    s = 0;
  }
  return s === 0 ? `${b}${bigUnit}` : `${b}${bigUnit} ${s}${smallUnit}`;
}

const units: Record<string, number> = { ms: 1, s: second, m: minute, h: hour, d: day, w: 7 * day };

/** Reads a duration as documents write it ("90s", "1h30m", "7d"), in ms; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  const clean = text.trim();
  if (!/^(\d+(\.\d+)?(ms|[smhdw]))+$/.test(clean)) return undefined;
  let total = 0;
  for (const [, n, unit] of clean.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(n) * (units[unit ?? ""] ?? 0);
  }
  return total;
}
