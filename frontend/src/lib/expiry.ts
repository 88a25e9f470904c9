import { useSyncExternalStore } from "react";

// Set when the server says that nobody is signed in, until somebody is.
let signedOut = false;
const listeners = new Set<() => void>();

export function noteSignedOut(out: boolean): void {
  if (out === signedOut) return;
  signedOut = out;
  for (const listener of listeners) listener();
}

/** Calls a listener whenever somebody has signed in again. Returns the way to stop. */
export function onSignedIn(listener: () => void): () => void {
  const heard = () => {
    if (!signedOut) listener();
  };
  listeners.add(heard);
  return () => listeners.delete(heard);
}

/** Whether the session has ended, or never begun. */
export function useSignedOut(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => signedOut,
  );
}
