import type { Line } from "./fold";
import type { Layout, Place } from "./layout";

export type Way = "left" | "right" | "up" | "down";

/** Where an arrow key leads from a box: along its lines, or across them to the box beside it. */
export function walk(from: string, way: Way, layout: Layout, lines: readonly Line[]): string | undefined {
  const here = layout.boxes.get(from);
  if (!here) return undefined;
  const [back, on] = layout.down ? ["up", "down"] : ["left", "right"];
  const along = way === back || way === on;
  const ids = along
    ? lines.flatMap((l) => (way === on ? (l.from === from ? [l.to] : []) : l.to === from ? [l.from] : []))
    : beside(from, here, way, layout);
  return nearest(ids, here, layout);
}

/** The boxes of the same rank on one side. */
function beside(from: string, here: Place, way: Way, layout: Layout): string[] {
  const ids: string[] = [];
  for (const [id, at] of layout.boxes) {
    const same = layout.down
      ? overlaps(at.y, at.height, here.y, here.height)
      : overlaps(at.x, at.width, here.x, here.width);
    const forward = layout.down ? at.x > here.x : at.y > here.y;
    if (id !== from && same && forward === (way === "right" || way === "down")) ids.push(id);
  }
  return ids;
}

const overlaps = (a: number, la: number, b: number, lb: number): boolean => a < b + lb && b < a + la;

function nearest(ids: readonly string[], here: Place, layout: Layout): string | undefined {
  const far = (id: string) => {
    const at = layout.boxes.get(id);
    return at ? Math.hypot(at.x - here.x, at.y - here.y) : Number.POSITIVE_INFINITY;
  };
  return ids.toSorted((a, b) => far(a) - far(b))[0];
}
