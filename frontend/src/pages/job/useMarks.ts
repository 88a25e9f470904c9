import { useQuery } from "@tanstack/react-query";
import { changesOf } from "@/api/access";
import { versionsQuery } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";
import { type Mark, marksOf, objectsOf } from "@/lib/marks";
import { useMay } from "@/shell/may";

const hour = 3_600_000;

/**
 * The changes of a job, and for administrators, who may read the audit log, those of its calendars and
 * of its group since the first of its last runs.
 */
export function useMarks(item: JobItem): Mark[] {
  const ref = refOf(item.definition.job);
  const runs = [...(item.last_runs ?? [])].reverse();
  const first = Date.parse(runs[0]?.fire_time ?? "");
  const known = runs.length > 0;
  // Rounded to the hour: otherwise each new run would cause another request.
  const from = known ? new Date(Math.floor(first / hour) * hour).toISOString() : "";
  const versions = useQuery({ ...versionsQuery(ref), enabled: known }).data?.items ?? [];
  const changes = changesOf(objectsOf(item.definition, ref.group), from);
  const isAdmin = useMay()("admin", "*");
  const entries = useQuery({ ...changes, enabled: known && isAdmin }).data ?? [];
  return marksOf(runs, versions, entries);
}
