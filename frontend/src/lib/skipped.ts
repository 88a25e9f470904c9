import type { Reason } from "@/api/schema.gen";

/** The calendar because of which a fire is skipped; undefined when it is something else. */
export function calendarOf(reason: Reason | undefined): string | undefined {
  return reason?.params?.calendar;
}
