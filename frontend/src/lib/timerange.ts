import { type Lang, tags } from "@/i18n";
import { isZone, offsetMinutes } from "./format";
import { addMonths, dateIn } from "./month";
import { alignedEnd } from "./ranges";
import { one } from "./search";

const hour = 3600e3;
const day = 24 * hour;

/** How long the ranges are that end now, in ms. */
export const spans = { "1h": hour, "6h": 6 * hour, "24h": day, "7d": 7 * day, "30d": 30 * day };

/** The ranges that end now, those of whole days of a calendar, and all of time. */
export const lengths = ["1h", "6h", "24h", "7d", "30d"] as const;
export const calendarRanges = ["today", "yesterday", "week", "last-week", "month", "last-month"] as const;
export type Length = (typeof lengths)[number];
export type CalendarRange = (typeof calendarRanges)[number];
export type RangeName = Length | CalendarRange | "all";

/** What most pages offer. */
export const usualRanges: readonly RangeName[] = [...lengths, ...calendarRanges];
export const allRanges: readonly RangeName[] = [...usualRanges, "all"];

/** A range as an address has it, right or wrong. */
export interface RangeSearch {
  /** A RangeName, which moves with the clock. */
  range?: string;
  /** Instants, in the place of a name. */
  from?: string;
  to?: string;
  /** The zone whose days are meant; the reader's if it is left out. */
  zone?: string;
}

/** The parameters of an address that say a range. */
export function rangeSearch(s: { [key in keyof RangeSearch]?: unknown }): RangeSearch {
  return { range: one(s.range), from: one(s.from), to: one(s.to), zone: one(s.zone) };
}

/** The same with all of it, so that what an address had of another range is gone. */
export type WholeRange = { [key in keyof Required<RangeSearch>]: string | undefined };

/** A range of time: instants in ms, the end exclusive. */
export interface TimeRange {
  /** Its name; undefined for one from an instant to another. */
  name: RangeName | undefined;
  from: number;
  to: number;
  /** The zone whose days it has. */
  zone: string;
  /** It has not ended: what happens now is within it. */
  isOpen: boolean;
}

/** What is wrong with a range, or was cut from it. */
export type RangeProblem =
  | { code: "range" | "from" | "to" | "zone"; value: string }
  /** It ends before it begins, or has only one of the two. */
  | { code: "order" | "half" }
  /** Nothing is kept from before an instant; all of the range is before it. */
  | { code: "kept" | "gone"; since: number }
  /** A page shows so many days at most. */
  | { code: "longest"; since: number; days: number };

/** Who reads a range, and where. */
export interface RangeReader {
  now: number;
  /** The reader's zone. */
  zone: string;
  /** On which day weeks begin: 1 is Monday, 7 is Sunday. */
  firstDay: number;
  /** The range of an address that has none. */
  usual: RangeName;
  /** What can be chosen on the page. */
  offers: readonly RangeName[];
}

/** The range of an address. Where the address is wrong, the problem says so, and the range is the usual one. */
export function readRange(
  search: RangeSearch,
  reader: RangeReader,
): { range: TimeRange; problem: RangeProblem | undefined } {
  const known = search.zone === undefined || isZone(search.zone);
  const zone = known ? (search.zone ?? reader.zone) : reader.zone;
  const named = (name: RangeName): TimeRange => {
    const { from, to } = timeOf(name, { ...reader, zone });
    return { name, from, to, zone, isOpen: to >= reader.now };
  };
  const problem = problemOf(search, reader);
  if (problem) return { range: named(reader.usual), problem };
  const wrongZone: RangeProblem | undefined = known ? undefined : { code: "zone", value: search.zone ?? "" };
  if (search.from === undefined || search.to === undefined)
    return { range: named(nameOf(search.range, reader) ?? reader.usual), problem: wrongZone };
  const [from, to] = [Date.parse(search.from), Date.parse(search.to)];
  return { range: { name: undefined, from, to, zone, isOpen: to >= reader.now }, problem: wrongZone };
}

const nameOf = (text: string | undefined, { offers }: RangeReader) => offers.find((name) => name === text);

function problemOf({ range, from, to }: RangeSearch, reader: RangeReader): RangeProblem | undefined {
  if (from !== undefined && !isInstant(from)) return { code: "from", value: from };
  if (to !== undefined && !isInstant(to)) return { code: "to", value: to };
  if (from !== undefined && to !== undefined)
    return Date.parse(to) > Date.parse(from) ? undefined : { code: "order" };
  if (from !== undefined || to !== undefined) return { code: "half" };
  return range !== undefined && !nameOf(range, reader) ? { code: "range", value: range } : undefined;
}

/** Whether a text is an instant: a date and a time with its offset, of a year with four digits. */
const isInstant = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
  !Number.isNaN(Date.parse(text));

/** From when until when a name means. */
function timeOf(
  name: RangeName,
  { now, zone, firstDay }: Pick<RangeReader, "now" | "zone" | "firstDay">,
): { from: number; to: number } {
  if (name === "all") return { from: 0, to: now };
  if (isLength(name)) return { from: now - spans[name], to: now };
  const today = dateIn(zone, now);
  const days = (from: string, to: string) => ({ from: startOfDay(from, zone), to: startOfDay(to, zone) });
  const monday = 1;
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  const week = addDays(today, -((weekday - (firstDay - monday) + 7) % 7));
  const month = (by: number) => `${addMonths(today.slice(0, 7), by)}-01`;
  switch (name) {
    case "today":
      return days(today, addDays(today, 1));
    case "yesterday":
      return days(addDays(today, -1), today);
    case "week":
      return days(week, addDays(week, 7));
    case "last-week":
      return days(addDays(week, -7), week);
    case "month":
      return days(month(0), month(1));
    case "last-month":
      return days(month(-1), month(0));
  }
}

export const isLength = (name: RangeName | undefined): name is Length => lengths.some((l) => l === name);

/** The date that lies so many days later. */
export function addDays(date: string, by: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + by * day).toISOString().slice(0, 10);
}

/**
 * The first instant of a date in a zone, in ms. Where clocks are set forward at midnight, the day begins later;
 * where midnight comes twice, with the first one. A date that the zone left out begins as the next one does.
 */
export function startOfDay(date: string, zone: string): number {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const [early = midnight, late = midnight] = [midnight - day, midnight + day]
    .map((near) => midnight - offsetMinutes(zone, near) * 60_000)
    .sort((a, b) => a - b);
  return dateIn(zone, early) === date ? early : late;
}

/** On which day weeks begin where the reader is: 1 is Monday, 7 is Sunday. */
export function firstDayOf(lang: Lang, languages: readonly string[]): number {
  const locale = new Intl.Locale(languages.find((l) => l.startsWith(lang)) ?? tags[lang]);
  return weekOf(locale)?.firstDay ?? 1;
}

interface WithWeek {
  getWeekInfo?(): { firstDay: number };
  weekInfo?: { firstDay: number };
}

/** What a browser knows of a locale's weeks: by a method, or in older ones as a property. */
function weekOf(locale: Intl.Locale & WithWeek): { firstDay: number } | undefined {
  return locale.getWeekInfo?.() ?? locale.weekInfo;
}

/**
 * A range without what is not kept any more, and what is longer than a page can show; both bounds are in ms. Of a
 * range with a name, which is short, nothing is said to be gone.
 */
export function boundRange(
  range: TimeRange,
  now: number,
  { kept, longest }: { kept: number; longest?: number },
): { range: TimeRange; problem: RangeProblem | undefined } {
  // By the hour, so that what is asked for does not move with each second.
  const oldest = range.name === undefined ? Math.floor((now - kept) / hour) * hour : range.from;
  if (range.to <= oldest) return { range, problem: { code: "gone", since: oldest } };
  const shortest = longest === undefined ? range.from : range.to - longest;
  const from = Math.max(range.from, oldest, shortest);
  if (from === range.from) return { range, problem: undefined };
  return {
    range: { ...range, from },
    problem:
      from === oldest
        ? { code: "kept", since: from }
        : { code: "longest", since: from, days: Math.floor((longest ?? 0) / day) },
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

/** The range as requests have it: by whole seconds, and without an end while it is open. */
export function windowOf({ name, from, to, isOpen }: TimeRange): { from?: string; to?: string } {
  if (name === "all") return {};
  const begin = iso(Math.floor(from / 1000) * 1000);
  return isOpen ? { from: begin } : { from: begin, to: iso(to) };
}

/**
 * The time that a chart of so many equal parts shows, and how long each part is, in ms. What ends now is shown up
 * to the end of the part that has begun, so that parts do not move with each second.
 */
export function chartOf(range: TimeRange, parts: number): { from: number; to: number; part: number } {
  const part = (range.to - range.from) / parts;
  if (!isLength(range.name)) return { from: range.from, to: range.to, part };
  const to = alignedEnd(range.to, part);
  return { from: to - part * parts, to, part };
}

/** The same as requests have it. */
export function chartWindow(range: TimeRange, parts: number): { from: string; to: string } {
  const { from, to } = chartOf(range, parts);
  return { from: iso(from), to: iso(to) };
}

const earlier = { today: "yesterday", week: "last-week", month: "last-month" } as const;

/** The time with which a range is compared: as much before it, or of the day, week or month before. */
export function comparedTime(range: TimeRange, reader: Pick<RangeReader, "now" | "firstDay">) {
  const { name, from, to, zone } = range;
  if (name === "today" || name === "week" || name === "month") {
    const was = timeOf(earlier[name], { ...reader, zone }).from;
    return { from: was, to: was + Math.max(0, reader.now - from) };
  }
  return { from: from - (to - from), to: from };
}
