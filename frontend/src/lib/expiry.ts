import { createStore } from "./store";

// Set when the server says that nobody is signed in, until somebody is.
const signedOut = createStore(false);

export const noteSignedOut = signedOut.set;

/** Calls a listener whenever somebody has signed in again. Returns the way to stop. */
export function onSignedIn(listener: () => void): () => void {
  return signedOut.subscribe(() => {
    if (!signedOut.get()) listener();
  });
}

/** Whether the session has ended, or never begun. */
export const useSignedOut = signedOut.use;
