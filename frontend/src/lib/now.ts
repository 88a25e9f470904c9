import { useSyncExternalStore } from "react";
import { serverNow } from "./clock";

// One timer for all that ticks on a page; it rests while nobody looks.
let now = serverNow();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function tick() {
  if (document.hidden) return;
  now = serverNow();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (!timer) {
    now = serverNow();
    timer = setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The server's time in ms, which moves once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}
