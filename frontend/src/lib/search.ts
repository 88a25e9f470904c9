/**
 * Search parameters as links have them: one key for each filter, repeated for "or".
 * What a page does not know is dropped by its own reader below, never an error.
 */
export type RawSearch = Record<string, string | string[] | number | undefined>;

export function parseSearch(text: string): RawSearch {
  const out: RawSearch = {};
  const params = new URLSearchParams(text);
  for (const key of new Set(params.keys())) {
    const values = params.getAll(key);
    out[key] = values.length === 1 ? values[0] : values;
  }
  return out;
}

export function stringifySearch(search: RawSearch): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v !== undefined && v !== "") params.append(key, String(v));
    }
  }
  // Commas, colons and slashes are legal in a query, and a job's name is easier to read with them.
  const text = params.toString().replace(/%2F/gi, "/").replace(/%3A/gi, ":").replace(/%2C/gi, ",");
  return text === "" ? "" : `?${text}`;
}

/** The same without the mark that a query begins with, to be kept: empty where nothing is set. */
export function queryOf(search: RawSearch): string {
  return stringifySearch(search).slice(1);
}

const all = (v: unknown): string[] =>
  Array.isArray(v) ? v.map(String) : v === undefined || v === "" ? [] : [String(v)];

/** The first value of a parameter; undefined when it is absent. */
export function one(v: unknown): string | undefined {
  return all(v)[0];
}

/** The values of a parameter; undefined rather than none, so that defaults leave the link. */
export function many(v: unknown): string[] | undefined {
  const values = all(v);
  return values.length === 0 ? undefined : values;
}

/** Those values of a parameter that are allowed. */
export function manyOf<T extends string>(v: unknown, allowed: readonly T[]): T[] | undefined {
  const values = allowed.filter((a) => all(v).includes(a));
  return values.length === 0 ? undefined : values;
}

/** The value of a parameter if it is allowed. */
export function oneOf<T extends string>(v: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((a) => a === one(v));
}

export function whole(v: unknown, min: number, max: number): number | undefined {
  const n = Number(one(v));
  return one(v) !== undefined && Number.isInteger(n) && n >= min && n <= max ? n : undefined;
}
