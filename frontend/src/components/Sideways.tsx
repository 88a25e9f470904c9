import { type ReactNode, useEffect, useRef, useState } from "react";

/** A box that scrolls sideways where its table has no room. Then the keyboard reaches it, even if nothing in it can be focused. */
export function Sideways({ stale, children }: { stale?: boolean; children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const observer = new ResizeObserver(() => setScrolls(el.scrollWidth > el.clientWidth));
    for (const each of [el, ...el.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={ref} className={stale ? "sideways stale" : "sideways"} tabIndex={scrolls ? 0 : undefined}>
      {children}
    </div>
  );
}
