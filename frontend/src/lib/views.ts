import { createStoredStore, type Store } from "./store";

/** Filters of a list under a name, as the address has them. */
export interface SavedView {
  name: string;
  /** The query of the address, such as "group=billing&view=failing". */
  query: string;
}

export type ViewedPage = "jobs" | "runs" | "logs";

const stores = new Map<string, Store<SavedView[]>>();

/** The most that one keeps of a page: a menu of more is no help. */
export const mostViews = 20;

function storeOf(user: string, page: ViewedPage): Store<SavedView[]> {
  const key = `carillon.views.${user}.${page}`;
  let store = stores.get(key);
  if (!store) {
    store = createStoredStore(key, (stored) => (Array.isArray(stored) ? stored.filter(isView) : []));
    stores.set(key, store);
  }
  return store;
}

/** The views that somebody has of a page, in the order in which they were saved. */
export function viewsOf(user: string, page: ViewedPage): SavedView[] {
  return storeOf(user, page).get();
}

export function useViews(user: string, page: ViewedPage): SavedView[] {
  return storeOf(user, page).use();
}

/** Saves a view, in the place of one of the same name. */
export function saveView(user: string, page: ViewedPage, view: SavedView): void {
  const others = viewsOf(user, page).filter((v) => v.name !== view.name);
  storeOf(user, page).set([...others, view].slice(-mostViews));
}

export function removeView(user: string, page: ViewedPage, name: string): void {
  storeOf(user, page).set(viewsOf(user, page).filter((v) => v.name !== name));
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
