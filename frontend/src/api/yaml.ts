import { queryOptions } from "@tanstack/react-query";
import { toYaml } from "@/lib/jobdoc";
import type { Job } from "./schema.gen";

/** Jobs as YAML, in the same order; of one that is undefined "". */
export function yamlQuery(jobs: (Job | undefined)[]) {
  return queryOptions({
    queryKey: ["yaml", ...jobs],
    queryFn: () => Promise.all(jobs.map((job) => (job ? toYaml(job) : ""))),
  });
}
