import cronstrue from "cronstrue";
import type { Schedule } from "@/api/schema.gen";
import type { AllMessages } from "@/i18n";
import { cronToSentence } from "./cron";
import { formatDuration, parseDuration } from "./duration";
import { instantToWall } from "./format";
import { intervalOf } from "./interval";

export type Kind = "cron" | "every" | "fixed_rate" | "fixed_delay" | "once" | "manual";

export function kindOf(s: Schedule | undefined): Kind {
  if (s?.cron) return "cron";
  if (s?.every) return "every";
  if (s?.fixed_rate) return "fixed_rate";
  if (s?.fixed_delay) return "fixed_delay";
  return s?.once ? "once" : "manual";
}

/** The expression as it was typed, for the line below the words; undefined where there is none. */
export function expressionOf(s: Schedule | undefined): string | undefined {
  return s?.cron ?? s?.once ?? undefined;
}

/** The zone in which a schedule is read. */
export const zoneOf = (s: Schedule | undefined): string => s?.zone ?? "UTC";

/** The units in which intervals are said, as those of cron are. */
const units = [
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
] as const;

/** Says an interval by the words of cron: "Every 5 minutes", unless the number would be hard to read. */
function everyInWords(duration: string, t: AllMessages): string {
  const ms = parseDuration(duration) ?? 0;
  const [unit, length] =
    units.find(([, length]) => ms >= length && ms % length === 0 && ms / length < 100) ?? [];
  if (!unit) return t.schedule.every(formatDuration(ms));
  return t.schedule.sentence(
    unit === "hour" ? { every: unit, n: ms / length, minute: 0 } : { every: unit, n: ms / length },
  );
}

/** Says a schedule in words, and by its next fire what H stands for. It is an aid to reading: the fires that the server gives are the truth. */
export function scheduleInWords(s: Schedule | undefined, t: AllMessages, next?: string): string {
  switch (kindOf(s)) {
    case "every":
      return s?.every ? t.schedule.interval(intervalOf(s.every)) : "";
    case "fixed_rate":
      return everyInWords(s?.fixed_rate ?? "", t);
    case "fixed_delay":
      return t.schedule.after(formatDuration(parseDuration(s?.fixed_delay ?? "") ?? 0));
    case "once":
      return t.schedule.once;
    case "manual":
      return t.schedule.manual;
    case "cron":
      return cronInWords(next ? withoutH(s?.cron ?? "", next, s?.zone ?? "UTC") : (s?.cron ?? ""), t);
  }
}

/** An expression with the minute and the hour of a fire where it has H for them. */
function withoutH(expression: string, fire: string, zone: string): string {
  const fields = expression.trim().split(/\s+/);
  const [hour = "", minute = ""] = instantToWall(fire, zone).slice(11).split(":");
  const first = fields.length - 5 > 0 ? 1 : 0; // after the second
  const own = [minute, hour];
  return fields
    .map((field, i) => (field === "H" && own[i - first] ? String(Number(own[i - first])) : field))
    .join(" ");
}

/** Says an expression in words; its own text where no words are known for it. */
export function cronInWords(expression: string, t: AllMessages): string {
  const every = /^@every\s+(\S+)$/.exec(expression.trim())?.[1];
  if (every) return everyInWords(every, t);
  const sentence = cronToSentence(expression);
  if (sentence) return t.schedule.sentence(sentence);
  const fields = expression.trim().split(/\s+/);
  if (fields.length < 5 || /H/.test(expression.replace(/THU|[A-Z]{3}/g, ""))) return expression;
  try {
    return cronstrue.toString(expression, {
      locale: t.lang === "zh" ? "zh_CN" : "en",
      use24HourTimeFormat: true,
      dayOfWeekStartIndexZero: fields.length === 5,
    });
  } catch {
    return expression;
  }
}
