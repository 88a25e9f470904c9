import { useEffect } from "react";

/** After how many ms a page has loaded what it needs first. */
export const later = 5000;

/** Loads code that may be needed soon, once the page has had time to load. load must not change. */
export function useLater(load: () => Promise<unknown>): void {
  useEffect(() => {
    // If it cannot be loaded, the error shows when somebody opens it.
    const timer = setTimeout(() => load().catch(() => undefined), later);
    return () => clearTimeout(timer);
  }, [load]);
}
