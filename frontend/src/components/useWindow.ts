import { type RefObject, useEffect, useState } from "react";
import { visibleRows } from "@/lib/logbuffer";

/** Tables up to this long are drawn whole: a row of a table of jobs takes three milliseconds. */
const short = 40;

/** The rows of a long table that are worth drawing, and the space that the others take. */
export function useWindow(scroller: RefObject<HTMLElement | null>, rows: number, height: number) {
  const [view, setView] = useState({ top: 0, height: 900 });
  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const update = () => setView({ top: el.scrollTop, height: el.clientHeight });
    update();
    el.addEventListener("scroll", update, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(el);
    return () => {
      el.removeEventListener("scroll", update);
      observer.disconnect();
    };
  }, [scroller]);
  if (rows <= short) return { from: 0, to: rows, before: 0, after: 0, ...view };
  const [from, to] = visibleRows(view.top, view.height, height, rows);
  return { from, to, before: from * height, after: (rows - to) * height, ...view };
}
