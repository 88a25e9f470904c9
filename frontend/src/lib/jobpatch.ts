/** A JSON merge patch for documents of jobs: null removes a field. */
export type Patch = { [field: string]: unknown };

type Kind = "text" | "duration" | "number" | "list" | "pairs";

interface Changeable {
  path: string;
  /** How its value is written; or what it is chosen from. */
  is: Kind | readonly string[];
  example?: string;
}

/** The fields that a form offers to change for many jobs. All others can be changed as YAML. */
export const changeable: readonly Changeable[] = [
  { path: "timeout", is: "duration", example: "10m" },
  { path: "total_timeout", is: "duration", example: "1h" },
  { path: "start_within", is: "duration", example: "15m" },
  { path: "retry.limit", is: "number", example: "3" },
  { path: "retry.delay", is: "duration", example: "30s" },
  { path: "schedule.zone", is: "text", example: "Europe/Berlin" },
  { path: "schedule.except", is: "list", example: "holidays" },
  { path: "schedule.only", is: "list", example: "workdays" },
  { path: "schedule.spread", is: "duration", example: "5m" },
  { path: "max_deliveries", is: "number", example: "3" },
  { path: "pause_after_failures", is: "number", example: "5" },
  { path: "overlap.policy", is: ["skip", "queue", "allow", "replace"] },
  { path: "priority", is: ["high", "normal", "low"] },
  { path: "labels", is: "pairs", example: "zone=eu disk=ssd" },
  { path: "target.success_rate", is: "number", example: "99.5" },
  { path: "target.start_delay", is: "duration", example: "5m" },
  { path: "owner", is: "text", example: "night-shift" },
];

/** The patch that sets fields to what was typed. What is empty is removed. */
export function patchOf(typed: Readonly<Record<string, string>>): Patch {
  const patch: Patch = {};
  for (const { path, is } of changeable) {
    const text = typed[path];
    if (text === undefined) continue;
    const names = path.split(".");
    const last = names.pop() ?? path;
    let at = patch;
    for (const name of names) {
      const inner: Patch = isPatch(at[name]) ? at[name] : {};
      at[name] = inner;
      at = inner;
    }
    at[last] = read(text.trim(), is);
  }
  return patch;
}

export function isPatch(value: unknown): value is Patch {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function read(text: string, is: Changeable["is"]): unknown {
  const words = text.split(/[\s,]+/).filter(Boolean);
  if (words.length === 0) return null;
  switch (is) {
    case "number": // what is none goes as it is, for the server to say so
      return Number.isNaN(Number(text)) ? text : Number(text);
    case "list":
      return words;
    case "pairs":
      return Object.fromEntries(words.map((w) => w.split(/=(.*)/s).slice(0, 2)).map(([k, v = ""]) => [k, v]));
    default:
      return text;
  }
}
