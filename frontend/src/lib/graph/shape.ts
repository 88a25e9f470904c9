import type { Picture } from "./fold";
import type { Size } from "./view";

/** About what stands between two boxes: beside each other, and one after the other. */
const beside = 14;
const between = 44;

/** Whether a picture is larger in a window when it goes downwards instead of to the right. */
export function goesDown({ boxes, lines }: Picture, window: Size, box: Size): boolean {
  const ranks = new Map<string, number>();
  const sources = new Map<string, string[]>();
  for (const { from, to } of lines) sources.set(to, [...(sources.get(to) ?? []), from]);
  // The boxes are in order, so those before one have their ranks.
  for (const { id } of boxes)
    ranks.set(id, 1 + Math.max(0, ...(sources.get(id) ?? []).map((s) => ranks.get(s) ?? 0)));
  const counts = new Map<number, number>();
  for (const rank of ranks.values()) counts.set(rank, (counts.get(rank) ?? 0) + 1);
  const [deep, wide] = [counts.size, Math.max(1, ...counts.values())];
  const scale = (width: number, height: number) => Math.min(1, window.width / width, window.height / height);
  const right = scale(deep * (box.width + between), wide * (box.height + beside));
  const down = scale(wide * (box.width + beside), deep * (box.height + between));
  return down > right;
}
