import { useSyncExternalStore } from "react";

/** Whether the server answered last time, and when it did so at last. */
export interface Connection {
  lost: boolean;
  lastAnswer: number | undefined;
}

let state: Connection = { lost: false, lastAnswer: undefined };
const listeners = new Set<() => void>();

/** Says whether a request got an answer, whatever it was. */
export function noteAnswer(answered: boolean): void {
  const was = state;
  state = answered ? { lost: false, lastAnswer: Date.now() } : { ...was, lost: true };
  if (was.lost !== state.lost) for (const listener of listeners) listener();
}

export function getConnection(): Connection {
  return state;
}

export function useConnection(): Connection {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getConnection);
}
