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
  return valueStep(Math.max(n, top), n);
}

/** A round step for an axis of values that need not be whole, so that it has at most n lines. */
export function valueStep(top: number, n: number): number {
  const power = 10 ** Math.floor(Math.log10(top / n));
  const step = [1, 2, 5, 10].find((m) => m * power >= top / n) ?? 10;
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

const day = 86_400_000;

/** A text of an axis, and where it is anchored. */
export interface AxisLabel {
  at: number;
  x: number;
  text: string;
  anchor: "start" | "middle" | "end";
}

/** About how wide a text of an axis is, in px: half a pixel more than the widest digits. */
function widthOf(text: string): number {
  return [...text].reduce((sum, c) => sum + (c > "\u2e7f" ? 11.5 : 6.6), 0);
}

/**
 * The round instants of an axis from left on, as many as have room in its width: none touches another,
 * nor the given one, which is most often that of now. Midnight is written as the day that begins,
 * and seconds where less than a minute lies between two.
 */
export function timeLabels(
  axis: { from: number; to: number; left: number; width: number },
  offsetMs: number,
  words: { day(at: number): string; minute(at: number): string; time(at: number): string },
  now?: AxisLabel,
): { labels: AxisLabel[]; step: number } {
  const { from, to, left, width } = axis;
  const step = Math.max(1e3, durationStep(to - from, Math.max(2, Math.floor(width / 92))));
  const write = step < 60e3 ? words.time : words.minute;
  const labels: AxisLabel[] = [];
  for (const at of timeTicks(from, to, step, offsetMs)) {
    const text = step >= day || (at + offsetMs) % day === 0 ? words.day(at) : write(at);
    const half = widthOf(text) / 2;
    const x = left + ((at - from) / (to - from)) * width;
    const anchor = x - half < left ? "start" : x + half > left + width ? "end" : "middle";
    labels.push({ at, x, text, anchor });
  }
  return { labels: apart(labels, now ? [now] : []), step };
}

/** Of texts of an axis those that touch neither the given ones nor one that comes before them. */
export function apart(labels: AxisLabel[], given: AxisLabel[]): AxisLabel[] {
  const kept = given.map(boxOf);
  return labels.filter((label) => {
    const [begins, ends] = boxOf(label);
    if (kept.some(([b, e]) => begins < e + 8 && ends > b - 8)) return false;
    kept.push([begins, ends]);
    return true;
  });
}

function boxOf({ x, text, anchor }: AxisLabel): [number, number] {
  const w = widthOf(text);
  const begins = anchor === "start" ? x : anchor === "end" ? x - w : x - w / 2;
  return [begins, begins + w];
}
