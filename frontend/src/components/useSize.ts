import { type RefObject, useEffect, useRef, useState } from "react";

/** The width of an element, in CSS pixels; 0 before it is known. */
export function useWidth<T extends HTMLElement>(): [RefObject<T | null>, number] {
  return useExtent("width");
}

/** The height of an element, in CSS pixels; 0 before it is known. */
export function useHeight<T extends HTMLElement>(): [RefObject<T | null>, number] {
  return useExtent("height");
}

function useExtent<T extends HTMLElement>(of: "width" | "height"): [RefObject<T | null>, number] {
  const ref = useRef<T>(null);
  const [extent, setExtent] = useState(0);
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const observer = new ResizeObserver(([entry]) => setExtent(Math.floor(entry?.contentRect[of] ?? 0)));
    observer.observe(el);
    return () => observer.disconnect();
  }, [of]);
  return [ref, extent];
}
