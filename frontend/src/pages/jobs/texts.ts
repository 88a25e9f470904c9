import { usePage } from "@/i18n";
import { joblist as en } from "@/i18n/en/joblist";
import { joblist as zh } from "@/i18n/zh/joblist";
import type { JobField } from "@/lib/jobfilter";

const texts = { en: { joblist: en }, zh: { joblist: zh } };

/** The texts of the list of jobs. */
export const useListT = () => usePage(texts);

/** What people call a value of a field. */
export function nameOfValue(t: ReturnType<typeof useListT>, field: JobField, value: string): string {
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
