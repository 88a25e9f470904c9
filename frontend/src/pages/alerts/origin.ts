import type { Incident } from "@/api/schema.gen";

/** What made an incident that no rule has found. */
export function originOf(i: Incident, words: { test: string; report: string }): string {
  return i.summary_code === "month_report" ? words.report : words.test;
}
