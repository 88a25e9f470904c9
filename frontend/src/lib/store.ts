import { useSyncExternalStore } from "react";

/** A value that lives outside of React, and that components follow. */
export interface Store<T> {
  get(): T;
  set(next: T): void;
  /** Calls a listener after each change. Returns the way to stop. */
  subscribe(listener: () => void): () => void;
  /** The value, for a component. */
  use(): T;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const listeners = new Set<() => void>();
  const get = () => value;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe,
    use: () => useSyncExternalStore(subscribe, get),
  };
}

/**
 * A store that this browser keeps. Parse makes a value of what is stored, whoever stored
 * it, and of undefined where nothing is. What another tab stores is taken over.
 */
export function createStoredStore<T>(key: string, parse: (stored: unknown) => T): Store<T> {
  const read = () => {
    try {
      return parse(JSON.parse(localStorage.getItem(key) ?? "null") ?? undefined);
    } catch {
      return parse(undefined); // storage is closed to us, or somebody else's
    }
  };
  const store = createStore(read());
  window.addEventListener("storage", (e) => {
    if (e.key === key) store.set(read());
  });
  return {
    ...store,
    set(next) {
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // It holds for this page, then.
      }
      store.set(next);
    },
  };
}
