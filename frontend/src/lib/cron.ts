/**
 * The fields of a cron expression as the editor's cells show them. Nothing here knows
 * when an expression fires: the server says that.
 */
export type CellName = "second" | "minute" | "hour" | "day" | "month" | "weekday" | "year";

export type Cells = Partial<Record<CellName, string>>;

const unix: CellName[] = ["minute", "hour", "day", "month", "weekday"];
const quartz: CellName[] = ["second", "minute", "hour", "day", "month", "weekday", "year"];

/** The cells that an expression with this many fields has; none when there is no such dialect. */
export function cellNames(fields: number): CellName[] {
  if (fields === 5) return unix;
  if (fields === 6 || fields === 7) return quartz.slice(0, fields);
  return [];
}

/** Cuts an expression into cells; undefined for macros, @every, @at and what has no dialect. */
export function parseCells(expression: string): Cells | undefined {
  const fields = expression.trim().split(/\s+/);
  const names = cellNames(fields.length);
  if (names.length === 0 || fields[0]?.startsWith("@")) return undefined;
  return Object.fromEntries(names.map((name, i) => [name, fields[i]]));
}

/** Writes cells as an expression: 5 fields without a second, 7 with a year. An empty cell is its neutral value. */
export function formatCells(cells: Cells): string {
  const names = quartz.filter((n) => n in cells);
  return names.map((n) => cells[n]?.trim() || neutral(n, cells)).join(" ");
}

function neutral(name: CellName, cells: Cells): string {
  if (name === "second") return "0";
  return name === "day" && "second" in cells && cells.weekday === "*" ? "?" : "*";
}

export const weekdays = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;
export type Weekday = (typeof weekdays)[number];

/** A schedule as a sentence: every N minutes, daily at some times, on some days. */
export type Sentence =
  | { every: "second"; n: number }
  | { every: "minute"; n: number }
  | { every: "hour"; n: number; minute: number }
  | { every: "day"; times: string[] }
  | { every: "week"; days: Weekday[]; times: string[] }
  | { every: "month"; on: MonthDay; times: string[] }
  | { every: "year"; month: number; day: number; times: string[] };

/** Days of the month, its last day, or its nth weekday. */
export type MonthDay =
  | { kind: "days"; days: number[] }
  | { kind: "last" }
  | { kind: "nth"; nth: number; day: Weekday };

/** Writes a sentence as an expression: Unix cron where that can say it, else Quartz. */
export function sentenceToCron(s: Sentence): string {
  switch (s.every) {
    case "second":
      return s.n === 1 ? "* * * * * ?" : `*/${s.n} * * * * ?`;
    case "minute":
      return s.n === 1 ? "* * * * *" : `*/${s.n} * * * *`;
    case "hour":
      return `${s.minute} ${s.n === 1 ? "*" : `*/${s.n}`} * * *`;
    case "day":
      return `${clock(s.times)} * * *`;
    case "week":
      return `${clock(s.times)} * * ${dayList(s.days)}`;
    case "month":
      if (s.on.kind === "days") return `${clock(s.times)} ${s.on.days.join(",")} * *`;
      if (s.on.kind === "last") return `0 ${clock(s.times)} L * ?`;
      return `0 ${clock(s.times)} ? * ${s.on.day}#${s.on.nth}`;
    case "year":
      return `${clock(s.times)} ${s.day} ${s.month} *`;
  }
}

/** Minute and hour fields of some times. Times of different minutes cannot share an expression: the first's counts. */
function clock(times: string[]): string {
  const [first = "00:00"] = times;
  const minute = Number(first.slice(3));
  const hours = [...new Set(times.map((t) => Number(t.slice(0, 2))))].sort((a, b) => a - b);
  return `${minute} ${hours.join(",")}`;
}

const cellsInReasons: Record<string, CellName> = {
  second: "second",
  minute: "minute",
  hour: "hour",
  "day of month": "day",
  month: "month",
  "day of week": "weekday",
  year: "year",
};

/** What the server finds wrong with an expression: in which cell, with which part of it, and what would be right. */
export interface CellProblem {
  cell: CellName;
  text: string;
  wants: string;
}

/** Reads the reason that the server gives for an expression; undefined when it is about no single cell. */
export function cellProblem(reason: string): CellProblem | undefined {
  const [, name = "", text = "", wants = ""] =
    /: (second|minute|hour|day of month|month|day of week|year) "(.*?)" (.*)$/.exec(reason) ?? [];
  const cell = cellsInReasons[name];
  return cell && { cell, text, wants };
}

/** The expression with another minute; undefined where its minute is none but a pattern. */
export function withMinute(expression: string, minute: number): string | undefined {
  const cells = parseCells(expression);
  if (number(cells?.minute, 0, 59) === undefined) return undefined;
  return cells && formatCells({ ...cells, minute: String(minute) });
}

/** Whether one expression can say all these times. */
export function sameMinute(times: string[]): boolean {
  return new Set(times.map((t) => t.slice(3))).size <= 1;
}

function dayList(days: Weekday[]): string {
  const at = weekdays.flatMap((d, i) => (days.includes(d) ? [i] : []));
  const runs: number[][] = [];
  for (const i of at) {
    const run = runs.at(-1);
    if (run && run[run.length - 1] === i - 1) run.push(i);
    else runs.push([i]);
  }
  return runs
    .map((run) => {
      const from = weekdays[run[0] ?? 0];
      const to = weekdays[run.at(-1) ?? 0];
      return run.length > 2 ? `${from}-${to}` : run.map((i) => weekdays[i]).join(",");
    })
    .join(",");
}

/** Reads an expression as a sentence; undefined when it says something that the sentence cannot. */
export function cronToSentence(expression: string): Sentence | undefined {
  const c = parseCells(macros[expression.trim()] ?? expression);
  if (!c || (c.year !== undefined && c.year !== "*")) return undefined;
  const isQuartz = c.second !== undefined;
  const any = (f: string | undefined) => f === "*" || (isQuartz && f === "?");
  const { minute = "", hour = "", day = "", month = "", weekday = "" } = c;
  if (c.second !== undefined && c.second !== "0") {
    const seconds = everyN(c.second, 60);
    const always = minute === "*" && hour === "*" && any(day) && any(month) && any(weekday);
    return seconds && always ? { every: "second", n: seconds } : undefined;
  }
  if (any(day) && any(month) && any(weekday)) {
    const repeat = everyN(minute, 60);
    if (repeat && hour === "*") return { every: "minute", n: repeat };
    const hours = everyN(hour, 24);
    const at = number(minute, 0, 59);
    if (hours && at !== undefined) return { every: "hour", n: hours, minute: at };
  }
  const times = timesOf(minute, hour);
  if (!times) return undefined;
  if (any(day) && any(month) && any(weekday)) return { every: "day", times };
  if (any(day) && any(month)) {
    const nth = /^([A-Z]{3})#([1-5])$/.exec(weekday.toUpperCase());
    const name = weekdays.find((d) => d === nth?.[1]);
    if (isQuartz && nth && name)
      return { every: "month", on: { kind: "nth", day: name, nth: Number(nth[2]) }, times };
    const days = daysOf(weekday, isQuartz);
    return days && { every: "week", days, times };
  }
  if (!any(weekday)) return undefined;
  if (any(month)) {
    if (isQuartz && day === "L") return { every: "month", on: { kind: "last" }, times };
    const days = numbers(day, 1, 31);
    return days && { every: "month", on: { kind: "days", days }, times };
  }
  const [d, m] = [number(day, 1, 31), number(month, 1, 12)];
  return d !== undefined && m !== undefined ? { every: "year", month: m, day: d, times } : undefined;
}

const macros: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * SUN",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** N of a field that means each Nth from the first, where that is evenly spaced; undefined else. */
function everyN(field: string, size: number): number | undefined {
  if (field === "*") return 1;
  const n = number(/^(?:\*|0)\/(\d+)$/.exec(field)?.[1], 1, size - 1);
  return n !== undefined && size % n === 0 ? n : undefined;
}

function number(text: string | undefined, min: number, max: number): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const n = Number(text);
  return n >= min && n <= max ? n : undefined;
}

function numbers(text: string, min: number, max: number): number[] | undefined {
  const all = text.split(",").map((t) => number(t, min, max));
  return all.every((n) => n !== undefined) ? all : undefined;
}

function timesOf(minute: string, hour: string): string[] | undefined {
  const m = number(minute, 0, 59);
  const hours = numbers(hour, 0, 23);
  if (m === undefined || !hours) return undefined;
  return hours.map((h) => `${String(h).padStart(2, "0")}:${String(m).padStart(2, "0")}`);
}

const names: readonly string[] = weekdays;

/** Days of a weekday field. Unix counts them from Sunday = 0 or 7, Quartz from Sunday = 1. */
function daysOf(field: string, isQuartz: boolean): Weekday[] | undefined {
  const index = (text: string): number | undefined => {
    const named = names.indexOf(text.toUpperCase());
    if (named >= 0) return named;
    const n = isQuartz ? number(text, 1, 7) : number(text, 0, 7);
    return n === undefined ? undefined : isQuartz ? (n + 5) % 7 : (n + 6) % 7;
  };
  const chosen = new Set<number>();
  for (const part of field.split(",")) {
    const [a = "", b] = part.split("-");
    const from = index(a);
    const to = b === undefined ? from : index(b);
    if (from === undefined || to === undefined) return undefined;
    for (let i = from; ; i = (i + 1) % 7) {
      chosen.add(i);
      if (i === to) break;
    }
  }
  return weekdays.filter((_, i) => chosen.has(i));
}
