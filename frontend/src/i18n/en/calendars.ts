import { count } from "./words";

/** Calendars, and editing one. */
export const calendars = {
  title: "Calendars",
  none: "No calendars yet",
  noneHint: "A calendar is a named set of dates and weekly windows that schedules skip, or keep to.",
  dates: (n: number) => count(n, "date", "dates"),
  windows: (n: number) => count(n, "window of the week", "windows of the week"),
  create: "New calendar",
  edit: (name: string) => `Edit ${name}`,
  hint: "Schedules skip these instants (except), or run at no others (only).",
  save: "Create calendar",
  saveAs: (v: number) => `Save as v${v}`,
  name: "Name",
  zone: "Time zone",
  description: "Description",
  datesLabel: "Dates",
  datesHint: "2026-12-25 for one day, 12-25 for every year; one per line.",
  windowsLabel: "Windows of the week",
  days: "Days",
  from: "From",
  to: "To",
  addWindow: "Add a window",
  removeWindow: "Remove this window",
  file: "Import .ics",
  read: (taken: number, left: number) =>
    `${count(taken, "event", "events")} taken from the file${left > 0 ? `, ${left} left out` : ""}.`,
  readUntil: (until: string) => `Endless recurrences are written out until ${until}.`,
  tooBig: "The file is larger than 4 MB.",
  events: "Events of the file",
  event: "Event",
  eventDates: "Dates",
  every: (days: string) => `every ${days}`,
  andMore: (first: string, n: number) => `${first} and ${n} more`,
  leftOut: {
    part_of_day: "left out: it lasts part of a day",
    cancelled: "left out: it is cancelled",
    over: "left out: it is over",
  },
  affected: "Fires that this affects, within a year",
  affectsNone: (jobs: number) =>
    jobs === 0
      ? "No job refers to this calendar."
      : `None, of ${count(jobs, "job", "jobs")} that refer to it.`,
  willSkip: (n: number) => `${count(n, "more fire", "more fires")} skipped`,
  willRun: (n: number) => `${count(n, "skipped fire runs", "skipped fires run")}`,
  skips: "skipped",
  runs: "runs",
  tooMany: "There are too many fires to check all of them.",
  more: (n: number) => `and ${n} more`,
  remove: (name: string) => `Delete ${name}?`,
  removeHint: "Schedules that name it treat it as empty: fires that it excluded run again.",
};
