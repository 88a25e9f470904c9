import { count } from "./words";

/** Calendars, and editing one. */
export const calendars = {
  title: "Calendars",
  none: "No calendars yet",
  noneHint: "A calendar is a named set of dates and windows. Schedules skip them, or keep to them.",
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
  datesHint: "2026-12-25 for one day, 12-25 for every year; one a line.",
  windowsLabel: "Windows of the week",
  days: "Days",
  from: "From",
  to: "To",
  addWindow: "Add a window",
  removeWindow: "Remove this window",
  more: (n: number) => `and ${n} more`,
  remove: (name: string) => `Delete ${name}?`,
  removeHint: "Schedules that name it treat it as empty: what it kept from running runs again.",
};
