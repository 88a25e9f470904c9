import { useEffect, useState } from "react";

export interface RowKeys {
  /** The marked row, or -1. */
  marked: number;
  mark(row: number): void;
  bindings: Record<string, () => void>;
}

/** j and k, or the arrows, move a mark over the rows of a list; other keys act on the marked row. */
export function useRowKeys(rows: number, actions: Record<string, (row: number) => void>): RowKeys {
  const [marked, mark] = useState(-1);
  const at = Math.min(marked, rows - 1);
  useEffect(() => {
    if (at >= 0) document.querySelector(`tr[data-row="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const move = (step: number) => () => mark(Math.max(0, Math.min(rows - 1, at + step)));
  const bindings: Record<string, () => void> = {
    j: move(1),
    k: move(-1),
    arrowdown: move(1),
    arrowup: move(-1),
  };
  for (const [key, act] of Object.entries(actions)) {
    bindings[key] = () => {
      if (at >= 0) act(at);
    };
  }
  return { marked: at, mark, bindings };
}
