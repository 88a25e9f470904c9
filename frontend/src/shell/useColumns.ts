import { useEffect } from "react";
import { readColumns, writeColumns } from "@/lib/columns";
import { getPrefs, setPrefs, usePrefs } from "@/lib/prefs";

interface Table<C extends string> {
  /** Under which what was chosen is kept. */
  name: string;
  all: readonly C[];
  usual: readonly C[];
}

export interface Columns<C extends string> {
  /** Those that are shown, in order. */
  shown: readonly C[];
  all: readonly C[];
  /** Shows others from now on; undefined is the usual ones. */
  choose(columns: readonly C[] | undefined): void;
}

/**
 * The columns of a table: those that the address names, so that a link shows what its sender
 * saw, else those that were chosen in this browser before, which the address then says too.
 */
export function useColumns<C extends string>(
  { name, all, usual }: Table<C>,
  address: string | undefined,
  setAddress: (cols: string | undefined) => void,
): Columns<C> {
  const kept = usePrefs().columns[name];
  const inAddress = readColumns(address, all);
  const missing = inAddress === undefined && readColumns(kept, all) !== undefined ? kept : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: setAddress is new with every drawing
  useEffect(() => {
    if (missing !== undefined) setAddress(missing);
  }, [missing]);
  return {
    all,
    shown: inAddress ?? readColumns(kept, all) ?? usual,
    choose: (columns) => {
      const cols = columns && writeColumns(columns, usual);
      setPrefs({ columns: { ...getPrefs().columns, [name]: cols } });
      setAddress(cols);
    },
  };
}
