import { queryOptions } from "@tanstack/react-query";
import { toYaml } from "@/lib/jobdoc";
import type { Job, Step } from "./schema.gen";

/** Jobs as YAML, in the same order; of one that is undefined "". */
export function yamlQuery(jobs: (Job | undefined)[]) {
  return queryOptions({
    queryKey: ["yaml", ...jobs],
    queryFn: () => Promise.all(jobs.map((job) => (job ? toYaml(job) : ""))),
  });
}

/** A step of a job as YAML. */
export function stepYaml(step: Step | undefined) {
  return queryOptions({ queryKey: ["yaml", "step", step], queryFn: () => toYaml(step) });
}
