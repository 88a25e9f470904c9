import { useSyncExternalStore } from "react";

/** Whether this tab follows what happens. Kept for the tab, since it is about what one is looking at. */
let on = sessionStorage.getItem("carillon.live") !== "off";
const listeners = new Set<() => void>();

export function isLive(): boolean {
  return on;
}

export function setLive(next: boolean): void {
  on = next;
  sessionStorage.setItem("carillon.live", on ? "on" : "off");
  for (const listener of listeners) listener();
}

export function useLive(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, isLive);
}

/** A refetchInterval for queries: every so often while the tab is live and seen. */
export function every(ms: number): () => number | false {
  return () => (on ? ms : false);
}
