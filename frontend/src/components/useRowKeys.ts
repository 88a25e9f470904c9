import { useEffect, useState } from "react";

export interface RowKeys {
  /** The marked row, or -1. */
  marked: number;
  mark(row: number): void;
  bindings: Record<string, () => void>;
}

/**
 * j and k, or the arrows, move a mark over the rows of a list; other keys act on the marked row.
 * With Shift the mark takes the rows that it passes along: extend has the one that it comes to.
 */
export function useRowKeys(
  rows: number,
  actions: Record<string, (row: number) => void>,
  extend?: (from: number, to: number) => void,
): RowKeys {
  const [marked, mark] = useState(-1);
  const at = Math.min(marked, rows - 1);
  useEffect(() => {
    if (at < 0) return;
    const row = document.querySelector(`tr[data-row="${at}"]`);
    row?.scrollIntoView({ block: "nearest" });
    // So that a screen reader says what the row is about.
    row?.querySelector<HTMLElement>("a[href]")?.focus({ preventScroll: true });
  }, [at]);
  const move = (step: number) => () => mark(Math.max(0, Math.min(rows - 1, at + step)));
  const drag = (step: number) => () => {
    const to = Math.max(0, Math.min(rows - 1, at + step));
    if (rows > 0) extend?.(at, to);
    mark(to);
  };
  const bindings: Record<string, () => void> = {
    j: move(1),
    k: move(-1),
    arrowdown: move(1),
    arrowup: move(-1),
  };
  if (extend) {
    bindings["shift+arrowdown"] = drag(1);
    bindings["shift+arrowup"] = drag(-1);
  }
  for (const [key, act] of Object.entries(actions)) {
    bindings[key] = () => {
      if (at >= 0) act(at);
    };
  }
  return { marked: at, mark, bindings };
}
