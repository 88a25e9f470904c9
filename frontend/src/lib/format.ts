import { type AllMessages, type Lang, preferred, tags, usePageT, useT } from "@/i18n";
import type { Messages } from "@/i18n/en";
import { getPrefs, type Prefs, usePrefs } from "./prefs";

export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

type Instant = string | number | Date;

/** Writes instants in one language and zone. */
export interface Format {
  lang: Lang;
  zone: string;
  /** 14:32:08 */
  time(at: Instant): string;
  /** 14:32 */
  minute(at: Instant): string;
  /** 14:32:08.123 */
  millis(at: Instant): string;
  /** Mon 23 Nov */
  day(at: Instant): string;
  /** 14:32:08 today, else 23 Nov 14:32, and of another year 23 Nov 2025 14:32 */
  short(at: Instant, now: number): string;
  /** The same to the second on any day; without the day where since was on it. */
  dated(at: Instant, now: number, since?: Instant): string;
  /** Mon 23 Nov 2026, 14:32:08 UTC+8 */
  full(at: Instant): string;
  number(n: number): string;
  percent(share: number): string;
  /** The same in another zone. */
  in(zone: string): Format;
}

const hms: Intl.DateTimeFormatOptions = { hour: "2-digit", minute: "2-digit", second: "2-digit" };
const dayParts: Intl.DateTimeFormatOptions = { weekday: "short", day: "numeric", month: "short" };

// Every component that shows an instant asks for one, some of them each second.
const formats = new Map<string, Format>();

export function makeFormat(lang: Lang, zone: string, hours: 12 | 24 = 24): Format {
  const key = `${lang} ${zone} ${hours}`;
  const known = formats.get(key);
  if (known) return known;
  const f = (options: Intl.DateTimeFormatOptions) => {
    let made: Intl.DateTimeFormat | undefined;
    return (at: Instant) => {
      made ??= new Intl.DateTimeFormat(tags[lang], {
        hourCycle: hours === 12 ? "h12" : "h23",
        timeZone: zone,
        ...options,
      });
      return made.format(new Date(at));
    };
  };
  const day = f(dayParts);
  const date = f({ year: "numeric", month: "2-digit", day: "2-digit" });
  const time = f(hms);
  const minute = f({ hour: "2-digit", minute: "2-digit" });
  const monthDay = f({ day: "numeric", month: "short" });
  const yearMonthDay = f({ day: "numeric", month: "short", year: "numeric" });
  const year = f({ year: "numeric" });
  const clock = f({ ...dayParts, ...hms, year: "numeric" });
  const dayOf = (at: Instant, now: number) => (year(at) === year(now) ? monthDay : yearMonthDay)(at);
  const made: Format = {
    lang,
    zone,
    time,
    minute,
    millis: f({ ...hms, hourCycle: "h23", fractionalSecondDigits: 3 }), // logs have columns
    day,
    short: (at, now) => (date(at) === date(now) ? time(at) : `${dayOf(at, now)} ${minute(at)}`),
    dated: (at, now, since = now) => (date(at) === date(since) ? time(at) : `${dayOf(at, now)} ${time(at)}`),
    full: (at) => `${clock(at)} ${offsetName(zone, new Date(at).getTime())}`,
    number: new Intl.NumberFormat(tags[lang]).format,
    percent: (share) => `${(share * 100).toFixed(share > 0.999 && share < 1 ? 2 : 1)}%`,
    in: (other) => makeFormat(lang, other, hours),
  };
  formats.set(key, made);
  return made;
}

/** Whether a browser knows the zone. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const offsets = new Map<string, Intl.DateTimeFormat>();

/** The zone's distance from UTC at an instant, such as UTC+8. */
export function offsetName(zone: string, at: number): string {
  let written = offsets.get(zone);
  if (!written) {
    written = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "shortOffset" });
    offsets.set(zone, written);
  }
  const name = written.formatToParts(at).find((p) => p.type === "timeZoneName")?.value ?? "UTC";
  return name.replace("GMT", "UTC").replace("UTC+0", "UTC");
}

/** Whether clocks of two zones show the same at an instant. */
export const isSameClock = (a: string, b: string, at: number): boolean =>
  a === b || offsetMinutes(a, at) === offsetMinutes(b, at);

/** The zone's distance from UTC at an instant, in minutes. */
export function offsetMinutes(zone: string, at: number): number {
  const [, sign, h = "0", m = "0"] = /([+-])(\d+)(?::(\d+))?/.exec(offsetName(zone, at)) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(h) * 60 + Number(m));
}

/** The instant at which a wall clock of the zone shows the given time ("2026-11-23T02:00"), in ms. */
export function wallToInstant(wall: string, zone: string): number {
  const asUTC = Date.parse(`${wall.length === 16 ? `${wall}:00` : wall}Z`);
  // The offset depends on the instant that is looked for; two rounds find it but in a gap, where either will do.
  let at = asUTC - offsetMinutes(zone, asUTC) * 60_000;
  at = asUTC - offsetMinutes(zone, at) * 60_000;
  return at;
}

/** Noon of each of the last days of the zone, today as the last: a day may begin later than at midnight. */
export function lastNoons(now: number, days: number, zone: string): number[] {
  const today = Date.parse(`${instantToWall(now, zone).slice(0, 10)}T12:00:00Z`);
  return Array.from({ length: days }, (_, i) =>
    wallToInstant(new Date(today + (i + 1 - days) * 24 * 3600e3).toISOString().slice(0, 16), zone),
  );
}

/** What a wall clock of the zone shows at an instant, as a datetime-local field has it. */
export function instantToWall(at: Instant, zone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    })
      .formatToParts(new Date(at))
      .map((p) => [p.type, p.value]),
  );
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`;
}

/** How far away an instant is, in one unit: 52 s, 5 min, 3 h, 4 d. */
export function distance(ms: number, t: Messages): string {
  const s = Math.abs(ms) / 1000;
  if (s < 59.5) return t.time.seconds(Math.round(s));
  if (s < 3570) return t.time.minutes(Math.round(s / 60));
  if (s < 36 * 3600) return t.time.hours(Math.round(s / 3600));
  return t.time.days(Math.round(s / 86400));
}

/** Says when an instant is from now: "in 3 min", "5 min ago". */
export function relative(at: Instant, now: number, t: Messages): string {
  const ms = new Date(at).getTime() - now;
  if (Math.abs(ms) < 1000) return t.time.justNow;
  return ms > 0 ? t.time.in(distance(ms, t)) : t.time.ago(distance(ms, t));
}

export function useLang(): Lang {
  return usePrefs().lang ?? preferred(navigator.languages);
}

const zoneIn = ({ zone }: Prefs): string => (zone === "local" || !isZone(zone) ? localZone : zone);

/** The time zone of this person, whose days reports have. */
export const readerZone = (): string => zoneIn(getPrefs());

/** How this person wants instants and numbers written. */
export function useFormat(): Format {
  const prefs = usePrefs();
  return makeFormat(useLang(), zoneIn(prefs), prefs.hours);
}

/** Texts, and how instants and numbers are written among them. */
export interface Words {
  t: Messages;
  f: Format;
}

/** All texts, and formats. */
export interface PageWords extends Words {
  t: AllMessages;
}

/** Texts and formats together, as most components need both. */
export function useWords(): Words {
  return { t: useT(), f: useFormat() };
}

/** The same with the texts of all pages. It suspends while they are loaded. */
export function usePageWords(): PageWords {
  return { t: usePageT(), f: useFormat() };
}
