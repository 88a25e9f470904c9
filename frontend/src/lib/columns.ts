/** What the list of jobs can show of a job, beside its name. */
export const jobColumns = [
  "schedule",
  "runs",
  "last",
  "next",
  "success",
  "p95",
  "owner",
  "tags",
  "handler",
  "trouble",
  "delay",
  "group",
  "zone",
  "timeout",
  "retries",
  "version",
  "changed",
] as const;
export type JobColumn = (typeof jobColumns)[number];
/** What a list of runs can show of a run, beside how it ended. */
export const runColumns = [
  "job",
  "run",
  "trigger",
  "fire",
  "delay",
  "duration",
  "executor",
  "result",
  "started",
  "finished",
  "attempt",
  "version",
  "pieces",
] as const;
export type RunColumn = (typeof runColumns)[number];

/** What the server sorts a list of runs by. */
export const runSorts = ["fire", "delay", "duration", "started", "finished"] as const;
export type RunSort = (typeof runSorts)[number];
export const isRunSort = (column: RunColumn): column is RunSort => runSorts.some((s) => s === column);

/** What a list of runs shows until somebody wants something else, without what is the same in all its rows. */
export function usualRunColumns(...same: RunColumn[]): RunColumn[] {
  return runColumns.slice(0, 8).filter((c) => !same.includes(c));
}

/** The columns that a text names, as the address has it: "next,success,p95". What is no column is left out; undefined if none is left. */
export function readColumns<C extends string>(
  text: string | undefined,
  all: readonly C[],
): readonly C[] | undefined {
  const named = new Set(text?.split(","));
  const known = [...named].flatMap((name) => all.filter((c) => c === name));
  return known.length === 0 ? undefined : known;
}

/** The same as a text; undefined for those that are usual, which an address need not say. */
export function writeColumns<C extends string>(
  columns: readonly C[],
  usual: readonly C[],
): string | undefined {
  const text = columns.join(",");
  return text === "" || text === usual.join(",") ? undefined : text;
}

/** A column by which rows are sorted, the greatest first or the least. */
export interface Sort<C extends string> {
  by: C;
  down: boolean;
}

/** Reads a sort as the address has it: "p95", or "-p95" for the greatest first. */
export function readSort<C extends string>(text: string | undefined, all: readonly C[]): Sort<C> | undefined {
  const down = text?.startsWith("-") ?? false;
  const by = all.find((c) => c === (down ? text?.slice(1) : text));
  return by && { by, down };
}

export function writeSort<C extends string>(sort: Sort<C> | undefined): string | undefined {
  return sort && `${sort.down ? "-" : ""}${sort.by}`;
}

/** What a click on a column's head makes of a sort: this way, the other way, and then none. */
export function nextSort<C extends string>(
  sort: Sort<C> | undefined,
  by: C,
  downFirst: boolean,
): Sort<C> | undefined {
  if (sort?.by !== by) return { by, down: downFirst };
  return sort.down === downFirst ? { by, down: !downFirst } : undefined;
}

/** Rows in the order of a value of each. Those without one come last, either way; equal ones stay as they were. */
export function sorted<T>(
  rows: readonly T[],
  of: (row: T) => number | string | undefined,
  down: boolean,
): T[] {
  const order = (a: number | string, b: number | string) =>
    typeof a === "string" && typeof b === "string" ? a.localeCompare(b) : Number(a) - Number(b);
  return [...rows].sort((x, y) => {
    const [a, b] = [of(x), of(y)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    return down ? order(b, a) : order(a, b);
  });
}
