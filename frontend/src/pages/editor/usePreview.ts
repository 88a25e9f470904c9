import { useQuery } from "@tanstack/react-query";
import { schedulePreview } from "@/api/schedule";
import type { Job, Preview } from "@/api/schema.gen";
import { useSettled } from "@/components/useSettled";
import { refOf } from "@/lib/jobref";
import { problemOf, type Trouble } from "@/lib/problem";
import { useSayer } from "@/lib/reason";

const slug = /^[a-z0-9][a-z0-9_-]*$/;

/** A group, a name, or nothing as long as it is none yet. */
export const slugOf = (text: string): string | undefined => (slug.test(text) ? text : undefined);

/** What the server foresees of the schedule that is being edited. */
export interface Foreseen {
  data: Preview | undefined;
  /** The data is still that of what the schedule was before. */
  stale: boolean;
  /** What is wrong with the schedule as it is now, and the same by the path of its fields. */
  problem: Trouble | undefined;
  wrong: ReadonlyMap<string, string>;
}

const nothing: ReadonlyMap<string, string> = new Map();

/** Asks for the next n fires of what is being edited, a moment after the last change. */
export function usePreview(doc: Job, n: number): Foreseen {
  const now = doc.schedule ?? {};
  const schedule = useSettled(now, 250);
  const { group, name } = refOf(doc.job);
  const job = slugOf(group) && slugOf(name) ? doc.job : undefined;
  const { say } = useSayer();
  const query = useQuery(schedulePreview(schedule, job, n));
  const settled = JSON.stringify(schedule) === JSON.stringify(now);
  const problem = query.isError && settled ? problemOf(query.error) : undefined;
  return {
    data: query.data,
    stale: query.isPlaceholderData || !settled,
    problem,
    wrong: problem?.errors ? new Map(problem.errors.map((e) => [e.field, say(e.reason)])) : nothing,
  };
}
