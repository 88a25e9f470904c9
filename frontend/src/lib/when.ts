import { instantToWall } from "./format";

const days: Record<string, number> = { today: 0, 今天: 0, yesterday: -1, 昨天: -1, tomorrow: 1, 明天: 1 };

const near = new RegExp(`^(?:(${Object.keys(days).join("|")})\\s*)?(\\d?\\d)[:：](\\d\\d)$`);
const full = /^(\d{4}-\d\d-\d\d)[t ]\s*(\d?\d)[:：](\d\d)(?::\d\d)?$/;

/**
 * The time on the wall that somebody wrote, as 2026-11-30T09:00: with a date, of today, or of "yesterday 09:00". Which
 * day today is, is seen from a zone. Undefined for anything else.
 */
export function whenOf(text: string, now: number, zone: string): string | undefined {
  const written = text.trim().toLowerCase();
  const [, day, ...ofNear] = near.exec(written) ?? [];
  const [, date, ...ofFull] = full.exec(written) ?? [];
  const [hour = "", minute = ""] = date ? ofFull : ofNear;
  const on = date ?? dayOf(instantToWall(now, zone), days[day ?? "today"] ?? 0);
  const wall = `${on}T${hour.padStart(2, "0")}:${minute}`;
  const ms = Date.parse(`${wall}Z`);
  return minute !== "" &&
    Number(hour) < 24 &&
    !Number.isNaN(ms) &&
    new Date(ms).toISOString().startsWith(wall)
    ? wall
    : undefined;
}

/** The date so many days after that of a wall time. */
const dayOf = (wall: string, after: number) =>
  new Date(Date.parse(`${wall}Z`) + after * 24 * 3600e3).toISOString().slice(0, 10);
