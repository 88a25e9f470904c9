import type { Job } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";

const longestName = 63;

/**
 * The job by which a draft is tried out: its task, parameters, place and limits under a
 * name of its own. It fires never, and what other jobs would notice of its end is left out.
 */
export function draftOf(doc: Job, description: string, salt = Math.random().toString(36).slice(2, 7)): Job {
  const { group, name } = refOf(doc.job);
  const end = `-draft-${salt.padEnd(4, "0")}`;
  const {
    schedule: _s,
    paused: _p,
    children: _c,
    overlap: _o,
    retry: _r,
    misfire: _m,
    pause_after_failures: _f,
    start_within: _w,
    target: _t,
    ...kept
  } = doc;
  return {
    ...kept,
    job: `${group}/${(name || "new").slice(0, longestName - end.length)}${end}`,
    description,
  };
}
