import { useQuery } from "@tanstack/react-query";
import { handlersQuery } from "@/api/groups";
import type { Job } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";
import { fieldsOf, type SchemaField } from "@/lib/schema";

/** The fields of a form for a job's parameters, by its own schema or that of its handler; none without one. */
export function useParamFields(job: Pick<Job, "job" | "task" | "params_schema">): SchemaField[] {
  const handler = job.task?.handler;
  const handlers = useQuery({ ...handlersQuery(refOf(job.job).group), enabled: Boolean(handler) }).data
    ?.items;
  return fieldsOf(job.params_schema ?? handlers?.find((h) => h.handler === handler)?.params_schema) ?? [];
}
