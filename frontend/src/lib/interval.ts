/** Intervals of the calendar as the form and the words show them. When one fires, the server says. */
import type { Schedule } from "@/api/schema.gen";
import { type Weekday, weekdays } from "./cron";

export type Every = NonNullable<Schedule["every"]>;
export const everyUnits = ["days", "weeks", "months", "years"] as const;
export type EveryUnit = (typeof everyUnits)[number];

/** A day of a month: the 31st, the last day, the second Tuesday (nth 2), the last Friday (nth 6). */
export type DateRule = { day: number } | { last: true } | { nth: number; weekday: Weekday };

/** An interval taken apart. Texts that are none of ours stay as they are in `raw`. */
export interface Interval {
  unit: EveryUnit;
  n: number;
  days: Weekday[];
  dates: DateRule[];
  /** Of years: the month in which they fire, from 1. */
  month: number;
  times: string[];
  from: string;
  raw: string[];
}

/** A list as documents may write it: as one text, or with numbers. */
export const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : value == null ? [] : [value]).map(String);

/** The texts of a field of a form, separated by commas. */
export const splitTexts = (text: string): string[] =>
  text
    .split(/[,，、]/)
    .map((part) => part.trim())
    .filter(Boolean);

export const unitOf = (e: Every): EveryUnit => everyUnits.find((u) => u in e) ?? "weeks";

const weekdayOf = (name: string): Weekday | undefined => weekdays.find((d) => d === name.toUpperCase());

const ordinals = ["1st", "2nd", "3rd", "4th", "5th", "last"];

function ruleOf(text: string): DateRule | undefined {
  const [first = "", second = ""] = text.toLowerCase().split(" ");
  if (/^([1-9]|[12]\d|3[01])$/.test(text)) return { day: Number(text) };
  if (first === "last" && second === "day") return { last: true };
  const [nth, weekday] = [ordinals.indexOf(first) + 1, weekdayOf(second)];
  return nth > 0 && weekday ? { nth, weekday } : undefined;
}

export function intervalOf(e: Every): Interval {
  const unit = unitOf(e);
  const on = textsOf(e.on);
  const from = new Date(`${e.from}T00:00:00Z`);
  const known = !Number.isNaN(from.getTime());
  const interval: Interval = {
    unit,
    n: Number(e[unit] ?? 1),
    days: [],
    dates: [],
    month: known ? from.getUTCMonth() + 1 : 1,
    times: textsOf(e.at),
    from: String(e.from ?? ""),
    raw: [],
  };
  if (unit === "weeks") {
    const chosen = on.map((text) => weekdayOf(text) ?? text);
    interval.days = weekdays.filter((d) => chosen.includes(d));
    interval.raw = chosen.filter((d) => !weekdayOf(d));
    const own = weekdays[(from.getUTCDay() + 6) % 7];
    if (on.length === 0 && own) interval.days = [own];
  } else if (unit !== "days") {
    for (const text of on) {
      const rule = ruleOf(text);
      if (rule) interval.dates.push(rule);
      else interval.raw.push(text);
    }
    if (on.length === 0 && known) interval.dates = [{ day: from.getUTCDate() }];
  }
  return interval;
}
