/** Round steps of a time axis, in ms. */
const durations = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  1e3,
  2e3,
  5e3,
  10e3,
  15e3,
  20e3,
  30e3,
  60e3,
  2 * 60e3,
  5 * 60e3,
  10 * 60e3,
  15 * 60e3,
  30 * 60e3,
  3600e3,
  2 * 3600e3,
  3 * 3600e3,
  6 * 3600e3,
  12 * 3600e3,
  86400e3,
  2 * 86400e3,
  7 * 86400e3,
];

/** A round step for an axis of durations, so that it has at most n lines. */
export function durationStep(top: number, n: number): number {
  return durations.find((d) => top / d <= n) ?? top / n;
}

/** A round step for an axis of counts, so that it has at most n lines. */
export function countStep(top: number, n: number): number {
  const raw = Math.max(1, top / n);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((m) => m * power >= raw) ?? 10;
  return step * power;
}

/** The lines of an axis from 0 to at least top. */
export function ticks(top: number, step: number): number[] {
  const lines: number[] = [];
  for (let v = 0; v < top + step * 0.999; v += step) lines.push(v);
  return lines;
}

/** Round instants of a zone within a range: multiples of the step, by that zone's wall clock. */
export function timeTicks(from: number, to: number, step: number, offsetMs: number): number[] {
  const out: number[] = [];
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs;
  for (let at = first; at <= to; at += step) out.push(at);
  return out;
}
