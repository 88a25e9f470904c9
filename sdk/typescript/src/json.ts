/** JSON, which holds less than JavaScript does, but for its numbers, of which it holds more. */

import { Failure, textOf } from "./errors";
import { refuseUnfinished } from "./unfinished";
import { cut, MAX_RESULT } from "./wire";

/** A value that JSON cannot hold. The message names the place in it, and what to do. */
export class NotJson extends Error {
  override name = "NotJson";
}

/**
 * Encode a value strictly. JSON.stringify makes null of NaN, and {} of a Map, without a word; here
 * both are errors. A bigint is a whole number, as {@link parse} reads it. Fields that are undefined are
 * left out, as JSON.stringify does.
 */
export function encode(value: unknown, name: string): string {
  const places = new Map<unknown, string>();
  const text = JSON.stringify(value, function (this: unknown, key: string, part: unknown) {
    const parent = places.get(this);
    const place = parent === undefined ? name : Array.isArray(this) ? `${parent}[${key}]` : `${parent}.${key}`;
    const wrong = wrongWith(part, Array.isArray(this));
    if (wrong !== "") {
      throw new NotJson(`${place} is ${wrong}`);
    }
    if (typeof part === "object" && part !== null) {
      if (isInside(part, this, places, place)) {
        throw new NotJson(`${place} refers back to what it is in; return a copy without that`);
      }
      places.set(part, place);
    }
    return marked(part);
  });
  return unmarked(text ?? "null");
}

function wrongWith(value: unknown, inArray: boolean): string {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? "" : `${value}, which JSON does not have; return null or a finite number`;
    case "function":
    case "symbol":
      return `a ${typeof value}, which JSON does not have; leave it out`;
    case "undefined":
      return inArray ? "undefined, which JSON does not have; return null" : "";
    case "object":
      if (value instanceof Map || value instanceof Set) {
        return `a ${value.constructor.name}, which JSON does not have; return an object or a list`;
      }
      return "";
    default:
      return "";
  }
}

/** Whether a part is one of the objects that it is in: they are the places that its own continues. */
function isInside(part: object, parent: unknown, places: Map<unknown, string>, place: string): boolean {
  const before = places.get(part);
  return part === parent || (before !== undefined && (place.startsWith(`${before}.`) || place.startsWith(`${before}[`)));
}

/** Strings and numbers of a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** What begins a string that stands for a bigint; a string that begins so itself gets a second one. */
const MARK = "\0";

/**
 * Parse JSON. A whole number that a JavaScript number would change, beyond 2^53, becomes a bigint; every
 * other number is what JSON.parse makes of it.
 */
export function parse(text: string): unknown {
  let marked = false;
  const safe = text.replace(TOKENS, (token) => {
    if (token[0] === '"') {
      return token.startsWith('"\\u0000') ? `"\\u0000${token.slice(1)}` : token;
    }
    if (!/^-?\d{16,}$/.test(token) || Number.isSafeInteger(Number(token))) {
      return token;
    }
    marked = true;
    return `"\\u0000${token}"`;
  });
  if (!marked) {
    return JSON.parse(text);
  }
  return JSON.parse(safe, (_, value: unknown) => {
    if (typeof value !== "string" || !value.startsWith(MARK)) {
      return value;
    }
    return value.startsWith(MARK, 1) ? value.slice(1) : BigInt(value.slice(1));
  });
}

/** JSON of a value that {@link parse} makes the same of: a bigint is a number. */
export function stringify(value: unknown): string {
  return unmarked(JSON.stringify(value, (_, part: unknown) => marked(part)));
}

/** What JSON.stringify writes for a part, until {@link unmarked} makes numbers of bigints. */
function marked(part: unknown): unknown {
  if (typeof part === "bigint") {
    return MARK + part;
  }
  return typeof part === "string" && part.startsWith(MARK) ? MARK + part : part;
}

function unmarked(text: string): string {
  if (!text.includes('"\\u0000')) {
    return text;
  }
  return text.replace(/"(?:[^"\\]|\\.)*":?/g, (token) => {
    if (!token.startsWith('"\\u0000') || token.endsWith(":")) {
      return token; // names of fields are not marked
    }
    return token.startsWith('"\\u0000\\u0000') ? `"${token.slice(7)}` : token.slice(7, -1);
  });
}

/** Refuse a value that has a number which is too large for JavaScript, and so has become Infinity. */
export function checkFinite(value: unknown, name: string): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Failure(`${name} is a number that is too large for JavaScript; send it as text`);
  }
  if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      checkFinite(part, Array.isArray(value) ? `${name}[${key}]` : `${name}.${key}`);
    }
  }
}

/** A handler's result as an event has it, and a note about it. */
export interface Result {
  value?: unknown;
  note: string;
}

/**
 * The result of a handler, masked. One that JSON cannot hold is left out: the work is done either
 * way. It throws an Unfinished if the work is not.
 */
export function encodeResult(value: unknown, mask: (text: string) => string): Result {
  if (value === undefined || value === null) {
    return { note: "" };
  }
  refuseUnfinished(value);
  let text: string;
  try {
    text = encode(value, "result");
  } catch (e) {
    return { note: `the result was left out: ${textOf(e)}` };
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_RESULT) {
    const note = `the result has ${bytes} bytes, more than ${MAX_RESULT}: only its beginning is kept; store it elsewhere, and return where it is`;
    return { value: { cut: true, bytes, start: cut(mask(text), 8 << 10) }, note };
  }
  try {
    return { value: parse(mask(text)), note: "" };
  } catch {
    return { note: "the result was left out: a secret is a part of it" };
  }
}
