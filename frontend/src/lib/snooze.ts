import { useSyncExternalStore } from "react";

/** Until when something is not to be shown: an instant in ms, or until it is over. */
export type Until = number | "over";
export type Snoozed = Record<string, Until>;

const key = "carillon.snoozed";
const nothing: Snoozed = {};
const listeners = new Set<() => void>();
let known: Snoozed | undefined;

function read(): Snoozed {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    return stored !== null && typeof stored === "object" ? (stored as Snoozed) : nothing;
  } catch {
    return nothing; // storage is closed to us, or somebody else's
  }
}

function write(next: Snoozed): void {
  known = next;
  try {
    localStorage.setItem(key, JSON.stringify(next));
  } catch {
    // It holds for this page, then.
  }
  for (const listener of listeners) listener();
}

const current = () => {
  known ??= read();
  return known;
};

/** Has something left out in this browser, or shown again. */
export function snooze(id: string, until: Until | undefined): void {
  const { [id]: _, ...others } = current();
  write(until === undefined ? others : { ...others, [id]: until });
}

/** Forgets what is over: instants that have passed, and what was to be left out until it was not there any more. */
export function forgetSnoozed(now: number, there: ReadonlySet<string>): void {
  const kept = Object.entries(current()).filter(([id, until]) =>
    until === "over" ? there.has(id) : until > now,
  );
  if (kept.length < Object.keys(current()).length) write(Object.fromEntries(kept));
}

export function useSnoozed(): Snoozed {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, current);
}
