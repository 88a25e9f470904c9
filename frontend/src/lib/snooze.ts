import { createStoredStore } from "./store";

/** Until when something is not to be shown: an instant in ms, or until it is over. */
export type Until = number | "over";
export type Snoozed = Record<string, Until>;

const snoozed = createStoredStore("carillon.snoozed", (stored) =>
  stored !== null && typeof stored === "object" ? (stored as Snoozed) : {},
);

/** Has something left out in this browser, or shown again. */
export function snooze(id: string, until: Until | undefined): void {
  const { [id]: _, ...others } = snoozed.get();
  snoozed.set(until === undefined ? others : { ...others, [id]: until });
}

/** Forgets what is over: instants that have passed, and what was to be left out until it was not there any more. */
export function forgetSnoozed(now: number, there: ReadonlySet<string>): void {
  const kept = Object.entries(snoozed.get()).filter(([id, until]) =>
    until === "over" ? there.has(id) : until > now,
  );
  if (kept.length < Object.keys(snoozed.get()).length) snoozed.set(Object.fromEntries(kept));
}

export const useSnoozed = snoozed.use;
