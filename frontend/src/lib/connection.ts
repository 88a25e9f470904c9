import { createStore } from "./store";

/** Whether the server answered last time. */
export interface Connection {
  lost: boolean;
  /** When it answered at last before it was lost; undefined if it never did. */
  lastAnswer: number | undefined;
  /** An answer has told that the history is behind, and nobody has found since that it is not. */
  behind: boolean;
  /** The server's version in the first answer, and one that another answer has told. */
  versions: { first: string; other?: string } | undefined;
}

const connection = createStore<Connection>({
  lost: false,
  lastAnswer: undefined,
  behind: false,
  versions: undefined,
});
let lastAnswer: number | undefined;

/** Says whether a request got an answer, whatever it was. */
export function noteAnswer(answered: boolean): void {
  if (answered) lastAnswer = Date.now();
  const was = connection.get();
  if (was.lost === answered) connection.set({ ...was, lost: !answered, lastAnswer });
}

/** Says whether the history is behind what has happened. */
export function noteBehind(behind: boolean): void {
  const was = connection.get();
  if (was.behind !== behind) connection.set({ ...was, behind });
}

/** Says which version of the server has answered. */
export function noteVersion(version: string): void {
  const was = connection.get();
  const { first, other } = was.versions ?? {};
  if (first === undefined) connection.set({ ...was, versions: { first: version } });
  // While servers are upgraded one by one, they answer in turn.
  else if (version !== first && version !== other)
    connection.set({ ...was, versions: { first, other: version } });
}

export const getConnection = connection.get;
export const useConnection = connection.use;
