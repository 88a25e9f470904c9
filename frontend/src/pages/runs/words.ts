import { refOf } from "@/lib/jobref";
import { runsSearch } from "@/router";

type Search = ReturnType<typeof runsSearch>;

/** What the field's "field:value" may name. */
const fields = ["job", "group", "status", "cause", "instance", "version"] as const;

/**
 * Reads what was typed into the runs' filter: jobs as group/name, and "field:value" for what else
 * runs are narrowed by. What is not whole yet, or names nothing, is left out.
 */
export function readWords(text: string): { jobs: string[] | undefined; rest: Partial<Search> } {
  const words = text.split(/\s+/).filter(Boolean);
  // The last word may not be whole: of a name or a number that cannot be told, of a status it can.
  const whole = /\s$/.test(text);
  const named: Record<string, string[]> = {};
  const jobs: string[] = [];
  words.forEach((word, i) => {
    const [, field, value] = /^(\w+):(.+)$/.exec(word) ?? [];
    const known = fields.find((f) => f === field);
    if (known === "job" && value && refOf(value).group) jobs.push(value);
    else if (known && value && (whole || i < words.length - 1 || known === "status" || known === "cause"))
      named[known] = [...(named[known] ?? []), value];
    else if (!known && /^[^/:]+\/[^/]+$/.test(word)) jobs.push(word);
  });
  const { group, status, cause, instance, version } = runsSearch(named);
  const rest = Object.fromEntries(
    Object.entries({ group, status, cause, instance, version }).filter(([, v]) => v !== undefined),
  );
  return { jobs: jobs.length === 0 ? undefined : jobs, rest };
}
