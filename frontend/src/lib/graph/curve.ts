import type { Line } from "./fold";
import { type Layout, lineKey, type Place, type Point } from "./layout";

/** The points of a line: out of one box, by its turns, into the other. */
export function pointsOf(line: Line, layout: Layout): Point[] {
  const from = layout.boxes.get(line.from);
  const to = layout.boxes.get(line.to);
  if (!from || !to) return [];
  const out: Point = layout.down
    ? [from.x + from.width / 2, from.y + from.height]
    : [from.x + from.width, from.y + from.height / 2];
  const into: Point = layout.down ? [to.x + to.width / 2, to.y] : [to.x, to.y + to.height / 2];
  return [out, ...(layout.turns.get(lineKey(line.from, line.to)) ?? []), into];
}

/** The path of a curve through points, as SVG has it. */
export function curve([first, ...rest]: readonly Point[], down: boolean): string {
  if (!first) return "";
  let path = `M${at(first)}`;
  let was = first;
  for (const next of rest) {
    const bend = down ? (next[1] - was[1]) / 2 : (next[0] - was[0]) / 2;
    path += down
      ? `C${at([was[0], was[1] + bend])} ${at([next[0], next[1] - bend])} ${at(next)}`
      : `C${at([was[0] + bend, was[1]])} ${at([next[0] - bend, next[1]])} ${at(next)}`;
    was = next;
  }
  return path;
}

/** The head of an arrow whose point is there. */
export function arrow(points: readonly Point[], down: boolean): string {
  const tip = points.at(-1);
  if (!tip) return "";
  const [x, y] = tip;
  return down
    ? `M${at(tip)}L${at([x - 4, y - 7])}L${at([x + 4, y - 7])}Z`
    : `M${at(tip)}L${at([x - 7, y - 4])}L${at([x - 7, y + 4])}Z`;
}

const at = ([x, y]: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** What a line covers. */
export function boundsOf(points: readonly Point[]): Place {
  const xs = points.map((p) => p[0]);
  const ys = points.map((p) => p[1]);
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, width: Math.max(...xs) - x, height: Math.max(...ys) - y };
}
