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

/** Calls back when it is switched. Returns the way to stop. */
export function onLive(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLive(): boolean {
  return useSyncExternalStore(onLive, isLive);
}
