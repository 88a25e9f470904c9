import type { Keep, Retention } from "@/api/schema.gen";
import { parseDuration } from "./duration";

export type Scope = "default" | "group" | "job";

/** A rule as a row that is edited: its lengths are what was typed, and empty is as the wider rule says. */
export interface Rule {
  /** Tells rows apart while their names are typed. */
  id: number;
  scope: Scope;
  /** Of the group, or group/name of the job. */
  name: string;
  runs: string;
  logs: string;
}

const hour = 3600e3;
const day = 24 * hour;

/** The rules of a retention, the widest first. */
export function rulesOf(r: Retention): Rule[] {
  const row = (scope: Scope, name: string, keep: Keep) => ({
    scope,
    name,
    runs: inDays(keep.runs),
    logs: inDays(keep.logs),
  });
  const named = (scope: Scope, keeps: Record<string, Keep> | undefined) =>
    Object.entries(keeps ?? {})
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, keep]) => row(scope, name, keep));
  return [row("default", "", r.default), ...named("group", r.groups), ...named("job", r.jobs)].map(
    (rule, id) => ({ ...rule, id }),
  );
}

/** The retention that rows say, with what a stored one has beside rules; undefined while a row is not complete. */
export function retentionOf(rules: Rule[], { facts }: Retention): Retention | undefined {
  const retention: Retention = { default: {}, ...(facts && { facts }) };
  for (const r of rules) {
    if (!isLength(r.runs, r.scope === "default") || !isLength(r.logs, r.scope === "default"))
      return undefined;
    const keep: Keep = {
      ...(r.runs ? { runs: inHours(r.runs) } : {}),
      ...(r.logs ? { logs: inHours(r.logs) } : {}),
    };
    if (r.scope === "default") retention.default = keep;
    else {
      if (r.name === "" || (r.runs === "" && r.logs === "")) return undefined;
      const kind = r.scope === "group" ? "groups" : "jobs";
      retention[kind] = { ...retention[kind], [r.name]: keep };
    }
  }
  return retention;
}

/** How long the history of some job is kept, in ms: as long as the longest rule has it; five years where none says. */
export function longestKept({ default: usual, groups, jobs }: Retention, what: "runs" | "logs"): number {
  const keeps = [usual, ...Object.values(groups ?? {}), ...Object.values(jobs ?? {})];
  const known = keeps.flatMap((keep) => parseDuration(keep[what] ?? "") ?? []);
  return known.length > 0 ? Math.max(...known) : mostKept;
}

/** History can be kept for so long, in ms. */
export const mostKept = 1825 * day;

/** Whether a text is a length for which history may be kept: from an hour to five years. */
export function isLength(text: string, required: boolean): boolean {
  if (text === "") return !required;
  const ms = parseDuration(text);
  return ms !== undefined && ms >= hour && ms <= mostKept;
}

/** The server writes hours ("720h"), of which people think as days. */
function inDays(text: string | undefined): string {
  const ms = text === undefined ? undefined : parseDuration(text);
  if (ms === undefined) return text ?? "";
  return ms >= 2 * day && ms % day === 0 ? `${ms / day}d` : (text ?? "");
}

function inHours(text: string): string {
  return `${(parseDuration(text) ?? 0) / 1000}s`;
}
