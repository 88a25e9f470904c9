import { useSyncExternalStore } from "react";

/** Whether the server answered last time, and when it did so at last. */
export interface Connection {
  lost: boolean;
  lastAnswer: number | undefined;
  /** An answer has told that the history is behind, and nobody has found since that it is not. */
  behind: boolean;
}

let state: Connection = { lost: false, lastAnswer: undefined, behind: false };
const listeners = new Set<() => void>();

/** Says whether a request got an answer, whatever it was. */
export function noteAnswer(answered: boolean): void {
  const was = state;
  state = answered ? { ...was, lost: false, lastAnswer: Date.now() } : { ...was, lost: true };
  if (was.lost !== state.lost) for (const listener of listeners) listener();
}

/** Says whether the history is behind what has happened. */
export function noteBehind(behind: boolean): void {
  if (behind === state.behind) return;
  state = { ...state, behind };
  for (const listener of listeners) listener();
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
