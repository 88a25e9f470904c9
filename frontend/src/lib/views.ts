import { useSyncExternalStore } from "react";

/** Filters of a list under a name, as the address has them. */
export interface SavedView {
  name: string;
  /** The query of the address, such as "group=billing&view=failing". */
  query: string;
}

export type ViewedPage = "jobs" | "runs" | "logs";

const prefix = "carillon.views.";
const none: SavedView[] = [];
const listeners = new Set<() => void>();
const known = new Map<string, SavedView[]>();

/** The most that one keeps of a page: a menu of more is no help. */
export const mostViews = 20;

function keyOf(user: string, page: ViewedPage): string {
  return `${prefix}${user}.${page}`;
}

/** The views that somebody has of a page, in the order in which they were saved. */
export function viewsOf(user: string, page: ViewedPage): SavedView[] {
  const key = keyOf(user, page);
  let views = known.get(key);
  if (!views) {
    views = read(key);
    known.set(key, views);
  }
  return views;
}

/** Saves a view, in the place of one of the same name. */
export function saveView(user: string, page: ViewedPage, view: SavedView): void {
  const others = viewsOf(user, page).filter((v) => v.name !== view.name);
  write(keyOf(user, page), [...others, view].slice(-mostViews));
}

export function removeView(user: string, page: ViewedPage, name: string): void {
  write(
    keyOf(user, page),
    viewsOf(user, page).filter((v) => v.name !== name),
  );
}

function read(key: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView) : none;
  } catch {
    return none; // storage is closed to us, or somebody else's
  }
}

function isView(x: unknown): x is SavedView {
  return (
    typeof x === "object" &&
    x !== null &&
    "name" in x &&
    typeof x.name === "string" &&
    "query" in x &&
    typeof x.query === "string"
  );
}

function write(key: string, views: SavedView[]): void {
  known.set(key, views);
  try {
    localStorage.setItem(key, JSON.stringify(views));
  } catch {
    // They hold for this page, then.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab of this browser has saved one.
  const reread = (e: StorageEvent) => {
    if (!e.key?.startsWith(prefix)) return;
    known.delete(e.key);
    listener();
  };
  window.addEventListener("storage", reread);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", reread);
  };
}

export function useViews(user: string, page: ViewedPage): SavedView[] {
  return useSyncExternalStore(subscribe, () => viewsOf(user, page));
}
