/**
 * JSON without loss. A JavaScript number has 53 bits, and ids of orders have 64: a number that it
 * would write otherwise than it was read is an Exact instead. So parameters that nobody edited go
 * back to the server as they came.
 */

/** What begins the text of a number in JSON.stringify's output, and no other text; writeJson takes it out again. */
const mark = `\u0000${Math.random().toString(36).slice(2)}:`;

/** A number as it was written. It is never changed. */
export class Exact {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }

  /** For JSON.stringify, whose result then identifies the value; writeJson makes JSON of it. */
  toJSON(): string {
    return mark + this.text;
  }

  toString(): string {
    return this.text;
  }
}

/** A number from its text: an Exact if a JavaScript number would be written otherwise. */
export function numberOf(text: string): number | Exact {
  const value = Number(text);
  return !form.test(text) || JSON.stringify(value) === text ? value : new Exact(text);
}

/** How JSON writes numbers. */
export const form = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Parses JSON, also what JSON.stringify made of Exact numbers. Numbers are Exact where they would change. */
export function readJson(text: string): unknown {
  const whole = text.replace(tokens, (token) =>
    !token.startsWith('"') && numberOf(token) instanceof Exact ? JSON.stringify(mark + token) : token,
  );
  return JSON.parse(whole, whole.includes(written) ? (_, value: unknown) => revived(value) : undefined);
}

/** A value whose toJSON was called already. */
export function revived(value: unknown): unknown {
  return typeof value === "string" && value.startsWith(mark) ? new Exact(value.slice(mark.length)) : value;
}

/** The mark as JSON has it. */
const written = JSON.stringify(mark).slice(1, -1);

const marked = new RegExp(`"${written.replace("\\", "\\\\")}([^"]*)"`, "g");

/** Writes JSON, each number as it was read. Nothing is "null", as JSON.stringify has it within lists. */
export function writeJson(value: unknown, indent?: number): string {
  return (JSON.stringify(value, null, indent) ?? "null").replace(marked, "$1");
}

/** A copy of a value of JSON. */
export function copyOf<T>(value: T): T {
  return value === undefined ? value : (readJson(writeJson(value)) as T);
}

/** Fields whose values are a user's own. */
const own = new Set(["params", "set_params", "params_schema", "result", "item", "from", "to"]);

/** Parses an answer of the server: numbers are exact in what users wrote, and plain in all the rest. */
export function readAnswer(text: string): unknown {
  return plain(readJson(text));
}

/** A value whose numbers are Exact only in what users wrote. It is changed itself. */
export function plain(value: unknown): unknown {
  if (value instanceof Exact) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  for (const [key, part] of Object.entries(value)) {
    if (!own.has(key)) (value as Record<string, unknown>)[key] = plain(part);
  }
  return value;
}
