import { createStore } from "./store";

/** Whether this tab follows what happens. Kept for the tab, since it is about what one is looking at. */
const live = createStore(sessionStorage.getItem("carillon.live") !== "off");

export const isLive = live.get;
export const useLive = live.use;

export function setLive(next: boolean): void {
  sessionStorage.setItem("carillon.live", next ? "on" : "off");
  live.set(next);
}

/** Calls back when it is switched. Returns the way to stop. */
export const onLive = live.subscribe;
