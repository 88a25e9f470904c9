import type { Reason, Run } from "@/api/schema.gen";
import { refusalsOf, tags, useT } from "@/i18n";
import type { Messages } from "@/i18n/en";
import { formatDuration, parseDuration } from "./duration";
import { type Format, useFormat } from "./format";
import { isRunId, shortId } from "./ids";
import { problemOf, type Trouble } from "./problem";

/** A parameter in a sentence: its name and kind, or the words that go with a number. */
const slot = /\{([a-z_]+)(?::([a-z]+)|\|([^|}]*)\|([^|}]*))\}/g;

/**
 * Says a reason in the language of the texts. One whose code they do not have, such as the error
 * of a handler, stays as the server wrote it.
 */
export function say(reason: Reason | undefined, t: Messages, f: Format): string {
  if (!reason) return "";
  const sentences: Partial<Record<string, string>> = t.reasons;
  const template = reason.code && (sentences[reason.code] ?? refusalsOf(t.lang)[reason.code]);
  if (!template) return reason.text;
  const head = template.replace(
    slot,
    (_, name: string, kind: string | undefined, one: string, many: string) => {
      const value = reason.params?.[name] ?? "";
      if (isRunId(value)) return shortId(value);
      if (kind) return show(value, kind, t, f);
      return `${f.number(Number(value))} ${value === "1" ? one : many}`;
    },
  );
  return reason.and ? head + t.reasonJoint + say(reason.and, t, f) : head;
}

function show(value: string, kind: string, t: Messages, f: Format): string {
  switch (kind) {
    case "number":
      return f.number(Number(value));
    case "duration": {
      const ms = parseDuration(value);
      return ms === undefined ? value : formatDuration(ms);
    }
    case "instant":
      return f.full(value);
    case "weekday":
      return dateName(value, weekdays, (i) => Date.UTC(2026, 0, 4 + i), { weekday: "long" }, f);
    case "month":
      return dateName(value, months, (i) => Date.UTC(2026, i, 1), { month: "long" }, f);
    case "status":
    case "state": {
      const statuses: Partial<Record<string, string>> = t.status;
      return statuses[value]?.toLowerCase() ?? value;
    }
    default:
      return value;
  }
}

const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** The name of a weekday or month in the reader's language, by its English one. */
function dateName(
  english: string,
  names: readonly string[],
  dayOf: (index: number) => number,
  part: Intl.DateTimeFormatOptions,
  f: Format,
): string {
  const i = names.indexOf(english);
  return i < 0
    ? english
    : new Intl.DateTimeFormat(tags[f.lang], { ...part, timeZone: "UTC" }).format(dayOf(i));
}

/** Says why a request was refused: what is wrong with each field, else the server's sentence. */
export function sayProblem(problem: Trouble, t: Messages, f: Format): string {
  const fields = problem.errors?.map((e) => `${e.field} ${say(e.reason, t, f)}`.trim());
  const sentence = problem.reason ? say(problem.reason, t, f) : problem.detail;
  return fields?.join(t.reasonJoint) ?? sentence ?? t.error.codes[problem.code] ?? problem.title;
}

/** How reasons and refusals are said to the reader. */
export interface Sayer {
  say: (reason: Reason | undefined) => string;
  sayProblem: (problem: Trouble) => string;
  sayError: (error: unknown) => string;
}

/** Says reasons, and why requests failed, in the language and zone of the reader. */
export function useSayer(): Sayer {
  const t = useT();
  const f = useFormat();
  return {
    say: (reason) => say(reason, t, f),
    sayProblem: (problem) => sayProblem(problem, t, f),
    sayError: (error) => sayProblem(problemOf(error), t, f),
  };
}

/** A run's end in a line: why it failed or did not run, what it says of itself, or its exit code. */
export function resultOf(run: Run, said: Sayer["say"]): string {
  if (run.message) return said(run.message);
  // Of a run that succeeded it says why there was another attempt, or how many pieces did.
  if (run.reason && (run.status !== "succeeded" || run.broadcast_total)) return said(run.reason);
  if (run.text) return run.text;
  if (run.percent) return `${Math.round(run.percent)}%`;
  return run.exit_code ? `exit ${run.exit_code}` : "";
}
