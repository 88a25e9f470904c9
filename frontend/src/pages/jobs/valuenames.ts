import type { AllMessages } from "@/i18n";
import type { JobField } from "@/lib/jobfilter";

/** What people call a value of a field. */
export function nameOfValue(t: AllMessages, field: JobField, value: string): string {
  const none = value === "none" ? t.joblist.none[field] : undefined;
  if (none) return none;
  const names: Partial<Record<JobField, Record<string, string>>> = {
    state: t.joblist.states,
    schedule: t.joblist.schedules,
    type: t.job.taskKinds,
    last: t.status,
    fires: t.joblist.spans,
    changed: t.joblist.spans,
  };
  return names[field]?.[value] ?? value;
}
