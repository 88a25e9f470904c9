import type { Reason, Run } from "@/api/schema.gen";
import { refusalsOf, useT } from "@/i18n";
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
  const head = template ? fill(template, reason, t, f) : ownText(reason);
  return reason.and ? head + t.reasonJoint + say(reason.and, t, f) : head;
}

/** A template with the values of a reason. */
function fill(template: string, reason: Reason, t: Messages, f: Format): string {
  return template.replace(slot, (_, name: string, kind: string | undefined, one: string, many: string) => {
    const value = reason.params?.[name] ?? "";
    if (isRunId(value)) return shortId(value);
    if (kind) return show(value, kind, t, f);
    return `${f.number(Number(value))} ${value === "1" ? one : many}`;
  });
}

/** What the server wrote of a reason itself, without what follows from it. */
function ownText({ text, and }: Reason): string {
  return and && text.endsWith(and.text) ? text.slice(0, -and.text.length).replace(/; $/, "") : text;
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
      return dayName(value, t);
    case "month":
      return t.monthNames[monthOf(value)] ?? value;
    case "status":
    case "state": {
      const statuses: Partial<Record<string, string>> = t.status;
      return statuses[value]?.toLowerCase() ?? value;
    }
    default:
      return value;
  }
}

/** A weekday in the reader's language, by its English name. */
function dayName(english: string, t: Messages): string {
  const names: Partial<Record<string, string>> = t.dayNames;
  return names[english.slice(0, 3).toUpperCase()] ?? english;
}

/** A month by its English name, counted from 0. */
const monthOf = (english: string) => new Date(`${english} 1, 2026`).getMonth();

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
