import { type RefObject, useMemo, useRef } from "react";
import type { JobItem } from "@/api/schema.gen";

/**
 * The jobs of a list that the server orders anew every few seconds, each once. While
 * somebody is at the list (the pointer or the focus is in it, rows are selected or it is
 * scrolled) none changes its place, and new ones come last: nothing moves under the pointer.
 */
export function useSteadyRows(
  items: JobItem[],
  key: string,
  scroller: RefObject<HTMLElement | null>,
  isHeld: boolean,
): JobItem[] {
  const places = useRef({ key, of: new Map<string, number>() });
  return useMemo(() => {
    const el = scroller.current;
    const isAttended = isHeld || (el !== null && (el.scrollTop > 0 || el.matches(":hover, :focus-within")));
    if (places.current.key !== key || !isAttended) places.current = { key, of: new Map() };
    const { of } = places.current;
    const once = new Map(items.map((item) => [item.definition.job, item]));
    for (const name of once.keys()) if (!of.has(name)) of.set(name, of.size);
    return [...once.values()].sort(
      (a, b) => (of.get(a.definition.job) ?? 0) - (of.get(b.definition.job) ?? 0),
    );
  }, [items, key, scroller, isHeld]);
}
