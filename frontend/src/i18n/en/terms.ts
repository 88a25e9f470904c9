import type { Cause, Status } from "@/api/schema.gen";
import type { Weekday } from "@/lib/cron";

export const dayNames: Record<Weekday, string> = {
  MON: "Monday",
  TUE: "Tuesday",
  WED: "Wednesday",
  THU: "Thursday",
  FRI: "Friday",
  SAT: "Saturday",
  SUN: "Sunday",
};
export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

export const status: Record<Status, string> = {
  pending: "Pending",
  queued: "Queued",
  running: "Running",
  succeeded: "Succeeded",
  failed: "Failed",
  timed_out: "Timed out",
  cancelled: "Cancelled",
  lost: "Lost",
  skipped: "Skipped",
  missed: "Missed",
};

export const cause: Record<Cause, string> = {
  schedule: "Schedule",
  misfire: "Missed fire",
  backfill: "Backfill",
  manual: "Manual",
  api: "API",
  parent: "Parent job",
  rerun: "Rerun",
  ping: "Ping",
  step: "Step of a workflow",
  test: "Test of a draft",
};

export const shortDays: Record<Weekday, string> = {
  MON: "Mon",
  TUE: "Tue",
  WED: "Wed",
  THU: "Thu",
  FRI: "Fri",
  SAT: "Sat",
  SUN: "Sun",
};

export const state = {
  active: "Active",
  paused: "Paused",
  manual: "Manual only",
  ended: "Ended",
  none: "—",
};

export const time = {
  now: "now",
  wall: "Write a date and a time such as 2026-11-29 14:30.",
  justNow: "just now",
  ago: (text: string) => `${text} ago`,
  in: (text: string) => `in ${text}`,
  seconds: (n: number) => `${n} s`,
  minutes: (n: number) => `${n} min`,
  hours: (n: number) => `${n} h`,
  days: (n: number) => `${n} d`,
};
