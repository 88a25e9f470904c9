import type { RunStep } from "@/api/schema.gen";
import { edgesOf } from "./steps";

/** The steps that decided how long a run took: the one that ended last, the source for which that waited, and so on. */
export function criticalPath(steps: readonly RunStep[]): Set<string> {
  const ended = new Map(
    steps.flatMap((s) => (s.finished_at && s.run_id ? [[s.step, Date.parse(s.finished_at)] as const] : [])),
  );
  const byName = new Map(steps.map((s) => [s.step, s]));
  const latest = (names: Iterable<string>) => {
    let found: string | undefined;
    for (const n of names)
      if (ended.has(n) && (found === undefined || (ended.get(n) ?? 0) > (ended.get(found) ?? 0))) found = n;
    return found;
  };
  const path = new Set<string>();
  let at = latest(steps.filter((s) => !s.finally).map((s) => s.step));
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = latest(edgesOf(byName.get(at)?.after).map((e) => e.step));
  }
  return path;
}
