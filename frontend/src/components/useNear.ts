import { type RefObject, useEffect, useRef, useState } from "react";
import { later } from "./useLater";

/**
 * Whether a part of a page is in the window, or somebody may be on the way to it: they scroll, use the
 * keyboard, or print. After a while it is near for all who read without these. It stays so.
 */
export function useNear<T extends Element>(): [RefObject<T | null>, boolean] {
  const part = useRef<T>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || !part.current) return;
    const come = () => setNear(true);
    const observer = new IntersectionObserver((all) => all.some((one) => one.isIntersecting) && come());
    observer.observe(part.current);
    const options = { capture: true, passive: true }; // parts of a page scroll, too
    const signs = ["scroll", "keydown", "beforeprint"];
    for (const sign of signs) window.addEventListener(sign, come, options);
    const timer = setTimeout(come, later);
    return () => {
      observer.disconnect();
      for (const sign of signs) window.removeEventListener(sign, come, options);
      clearTimeout(timer);
    };
  }, [near]);
  return [part, near];
}
