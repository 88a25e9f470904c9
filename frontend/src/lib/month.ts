/** A month as "2026-11", and its days as "2026-11-23": dates of a wall calendar, in no zone. */
export interface Month {
  name: string;
  /** How many days of its first week belong to the month before; weeks begin on Monday. */
  before: number;
  days: string[];
}

export function monthOf(name: string): Month {
  const [year = 0, number = 1] = name.split("-").map(Number);
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  return {
    name,
    before: (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7,
    days: Array.from({ length }, (_, i) => `${name}-${String(i + 1).padStart(2, "0")}`),
  };
}

/** How many days of a month are not over on a date, that date among them. */
export function daysLeft(month: string, today: string): number {
  return monthOf(month).days.filter((day) => day >= today).length;
}

/** The month that lies so many months later. */
export function addMonths(name: string, by: number): string {
  const [year = 0, number = 1] = name.split("-").map(Number);
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}

export function isMonth(text: string | undefined): text is string {
  return text !== undefined && /^\d{4}-(0[1-9]|1[0-2])$/.test(text);
}

/** The date that a wall calendar of the zone shows at an instant. */
export function dateIn(zone: string, at: number | string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" })
    .format(new Date(at))
    .slice(0, 10);
}

const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/** The day of the week of a date, as calendars write it. */
export function weekdayOf(date: string): string {
  return weekdays[(new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7] ?? "";
}

interface CalendarDays {
  dates?: string[];
  windows?: { days?: string; from: string; to: string }[];
}

/** Whether a calendar has the whole of a date: by its dates, or by a window of the week from midnight to midnight. */
export function hasDate(calendar: CalendarDays, date: string): boolean {
  if (calendar.dates?.some((d) => d === date || d === date.slice(5))) return true;
  return (calendar.windows ?? []).some((w) => w.from === "00:00" && w.to === "24:00" && hasDay(w.days, date));
}

function hasDay(days: string | undefined, date: string): boolean {
  if (!days) return true;
  const day = weekdays.indexOf(weekdayOf(date));
  return days
    .toLowerCase()
    .split(",")
    .some((part) => {
      const [from = "", to = from] = part.trim().split("-");
      const [a, b] = [weekdays.indexOf(from), weekdays.indexOf(to)];
      return a <= b ? a <= day && day <= b : day >= a || day <= b;
    });
}
