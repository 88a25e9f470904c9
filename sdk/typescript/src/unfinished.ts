/** Finds work in a handler's result that nobody has waited for. */

import { Failure } from "./errors";

/** A handler returned something whose code has not run, or not to its end. The run fails. */
export class Unfinished extends Failure {
  override name = "Unfinished";

  constructor(place: string, what: string) {
    super(`the handler returned unfinished work: ${place} is ${what}; finish it in the handler, and return its value`);
  }
}

/** Throw an Unfinished if a promise, iterator or stream is the result, or inside of it. */
export function refuseUnfinished(value: unknown): void {
  let found: Unfinished | undefined;
  const seen = new Set<object>();
  const rest: [unknown, string][] = [[value, "the result"]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const [part, place] = next;
    const what = unfinished(part);
    if (what !== "") {
      found = new Unfinished(place, what);
      dismiss(part);
    } else if (typeof part === "object" && part !== null && !seen.has(part)) {
      seen.add(part);
      const at = part === value ? "result" : place;
      const inside = Array.isArray(part) ? part.map((v, i): [unknown, string] => [v, `${at}[${i}]`]) : fields(part, at);
      for (const each of inside.reverse()) {
        rest.push(each);
      }
    }
  }
  if (found !== undefined) {
    throw found;
  }
}

function fields(part: object, at: string): [unknown, string][] {
  if ("toJSON" in part && typeof part.toJSON === "function") {
    return [[part.toJSON(), at]];
  }
  if (part instanceof Map) {
    return [...part].map(([k, v]) => [v, `${at}.${String(k)}`]);
  }
  if (part instanceof Set) {
    return [...part].map((v, i) => [v, `${at}[${i}]`]);
  }
  if (ArrayBuffer.isView(part)) {
    return [];
  }
  return Object.entries(part).map(([k, v]) => [v, `${at}.${k}`]);
}

/** What is not done yet of a value, in words; "" of one that is what it is. */
function unfinished(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return "";
  }
  const v = value as Record<PropertyKey, unknown>;
  const can = (name: PropertyKey) => typeof v[name] === "function";
  if (can("then")) {
    return "a promise";
  }
  if (can("getReader") || can("getWriter") || (can("pipe") && can("on"))) {
    return "a stream";
  }
  if (value instanceof Response || value instanceof Request || value instanceof Blob) {
    return `a ${value.constructor.name}, whose body was not read`;
  }
  if (can("next") && (can(Symbol.iterator) || can(Symbol.asyncIterator))) {
    return can(Symbol.asyncIterator) ? "an async generator" : "a generator or iterator";
  }
  return "";
}

/** Keep the rejection of a promise that nobody will await from ending the process. */
function dismiss(value: unknown): void {
  if (value instanceof Promise) {
    value.catch(() => {});
  }
}
