import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import type { JobRef } from "@/lib/jobref";
import { problemOf } from "@/lib/problem";
import { isLiving } from "@/lib/status";
import { api, dataOf } from "./client";
import { jobsKey } from "./jobs";
import { type RerunOptions, rerunRun, runsKey } from "./runs";
import type { ResolveStepRequest, RunSteps, SignalRequest, StepHistory } from "./schema.gen";

interface Tagged<T> {
  steps: T;
  etag: string | null;
}

/** What is sent along, so that the answer has steps only if they are no more as they were. */
const unlessAs = <T>(had: Tagged<T> | undefined) => ({ "If-None-Match": had?.etag ?? undefined });

/** The steps of an answer, or of the one before. */
async function tagged<T>(
  had: Tagged<T> | undefined,
  { data, response }: { data?: T; response: Response },
): Promise<Tagged<T>> {
  if (had && response.status === 304) return had;
  return { steps: await dataOf(Promise.resolve({ data })), etag: response.headers.get("ETag") };
}

async function readSteps(runId: string, had: Tagged<RunSteps> | undefined, signal: AbortSignal) {
  const params = { path: { run_id: runId }, header: unlessAs(had) };
  return tagged(had, await api.GET("/api/v1/runs/{run_id}/steps", { signal, params }));
}

/** The steps of a workflow's run. A run of a job without steps is not found. */
export function stepsQuery(runId: string) {
  const queryKey = [...runsKey, "steps", runId];
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }) =>
      readSteps(runId, client.getQueryData<Tagged<RunSteps>>(queryKey), signal),
    select: ({ steps }) => steps,
    retry: (failures, error) => problemOf(error).code !== "not_found" && failures < 2,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data && !isLiving(state.data.steps.status) ? false : every(1000)(),
  });
}

async function readHistory(
  path: JobRef,
  query: { from?: string; to?: string },
  had: Tagged<StepHistory> | undefined,
  signal: AbortSignal,
) {
  const params = { path, query, header: unlessAs(had) };
  return tagged(had, await api.GET("/api/v1/jobs/{group}/{name}/steps", { signal, params }));
}

/** How the steps of a workflow did in the runs of a range: figures, and the states in the newest 30 runs. */
export function stepHistoryQuery(job: JobRef, range: { from?: string; to?: string }) {
  const queryKey = [...jobsKey, "steps", job.group, job.name, range];
  return queryOptions({
    queryKey,
    queryFn: ({ signal, client }) =>
      readHistory(job, range, client.getQueryData<Tagged<StepHistory>>(queryKey), signal),
    select: ({ steps }) => steps,
    placeholderData: (had) => (had?.steps.job === `${job.group}/${job.name}` ? had : undefined),
    refetchInterval: every(10_000),
  });
}

/** What a rerun would do with each step of a workflow. Nothing is created. */
export function rerunPlan(runId: string, options: RerunOptions) {
  return queryOptions({
    queryKey: [...runsKey, "plan", runId, options],
    queryFn: () => rerunRun(runId, { ...options, dry_run: true }),
    retry: false,
    staleTime: 5000,
  });
}

/** Does a step again that ended badly or was cancelled, while its run is alive. */
export function retryStep(runId: string, step: string) {
  const params = { path: { run_id: runId, step } };
  return dataOf(api.POST("/api/v1/runs/{run_id}/steps/{step}/retry", { params, body: {} }));
}

/** Says by hand how such a step ended. */
export function resolveStep(runId: string, step: string, body: ResolveStepRequest) {
  const params = { path: { run_id: runId, step } };
  return dataOf(api.POST("/api/v1/runs/{run_id}/steps/{step}/resolve", { params, body }));
}

/** Puts a workflow's run on hold: none of its steps begins until it is resumed. */
export function holdRun(runId: string, note: string) {
  const params = { path: { run_id: runId } };
  return dataOf(api.POST("/api/v1/runs/{run_id}/hold", { params, body: note === "" ? {} : { note } }));
}

/** Resumes a run that is on hold. */
export function resumeRun(runId: string) {
  return dataOf(api.POST("/api/v1/runs/{run_id}/resume", { params: { path: { run_id: runId } } }));
}

export type Decision = "approve" | "reject";

/** Approves or rejects a step that waits for approval. */
export function decideStep(decision: Decision, runId: string, step: string, note: string) {
  const path = `/api/v1/runs/{run_id}/steps/{step}/${decision}` as const;
  const params = { path: { run_id: runId, step } };
  return dataOf(api.POST(path, { params, body: note === "" ? {} : { note } }));
}

/** Sends a signal to a run; its data, if it has any, is the result of the step that waits for it. */
export function sendSignal(runId: string, signal: string, body: SignalRequest) {
  const params = { path: { run_id: runId, signal } };
  return dataOf(api.POST("/api/v1/runs/{run_id}/signals/{signal}", { params, body }));
}
