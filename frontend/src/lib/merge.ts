import { copyOf, Exact } from "./exact";

/** A field that one or both of two people changed in their copies of a document. */
export interface Meeting {
  /** Its path: schedule.cron. */
  field: string;
  path: readonly string[];
  /** What it was, and what each of them made of it; undefined where it is not there. */
  was: unknown;
  mine: unknown;
  theirs: unknown;
  /** Who changed it; clash: both did, each to something else. */
  by: "mine" | "theirs" | "alike" | "clash";
}

/** Whose value a field is to have. */
export type Side = "mine" | "theirs";

/**
 * Lists the fields in which two copies of a document differ from what they were copied from.
 * Lists and texts are changed as a whole, and so are the fields that whole names: those whose
 * parts make sense only together.
 */
export function meetings(
  was: unknown,
  mine: unknown,
  theirs: unknown,
  whole: readonly string[] = [],
): Meeting[] {
  const found: Meeting[] = [];
  const walk = (path: readonly string[], a: unknown, b: unknown, c: unknown) => {
    const field = path.join(".");
    if (isRecord(b) && isRecord(c) && (isRecord(a) || a === undefined) && !whole.includes(field)) {
      for (const key of new Set([...Object.keys(a ?? {}), ...Object.keys(b), ...Object.keys(c)]))
        walk([...path, key], a?.[key], b[key], c[key]);
      return;
    }
    const [byMe, byThem] = [!same(a, b), !same(a, c)];
    if (!byMe && !byThem) return;
    const by = !byThem ? "mine" : !byMe ? "theirs" : same(b, c) ? "alike" : "clash";
    found.push({ field, path, was: a, mine: b, theirs: c, by });
  };
  walk([], was, mine, theirs);
  return found;
}

/** Puts my values of some fields into their copy. */
export function mergeInto<T extends object>(theirs: T, mine: readonly Meeting[]): T {
  const merged = copyOf(theirs);
  for (const { path, mine: value } of mine) put(merged, path, value);
  return merged;
}

function put(target: unknown, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined || !isRecord(target)) return;
  if (rest.length > 0) {
    if (!isRecord(target[key])) target[key] = {};
    put(target[key], rest, value);
    if (isRecord(target[key]) && Object.keys(target[key]).length === 0) delete target[key];
  } else if (value === undefined) delete target[key];
  else target[key] = copyOf(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}

/** Whether two values say the same; the order of a record's fields says nothing. */
export function same(a: unknown, b: unknown): boolean {
  if (isRecord(a) && isRecord(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].every((key) => same(a[key], b[key]));
  }
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The paths of the fields in which two documents differ: schedule.cron, task.shell. */
export function changedFields(before: unknown, after: unknown, path = ""): string[] {
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) =>
      changedFields(before[key], after[key], path === "" ? key : `${path}.${key}`),
    );
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
}

/** Whether a change of one field is about another: they are the same, or one is a part of the other. */
export function touches(changed: string, field: string): boolean {
  const inside = (a: string, b: string) => a.startsWith(b) && /^[.[]/.test(a.slice(b.length));
  return changed === field || inside(changed, field) || inside(field, changed);
}
