import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { pauseJob, refOf, refreshJobs, resumeJob, runJob } from "@/api/jobs";
import { problemOf } from "@/api/problem";
import { cancelRun, runsKey } from "@/api/runs";
import { toast } from "@/components/Toasts";
import { useT } from "@/i18n";

/** Shows what went wrong with an action, in the server's words. */
export function useComplain() {
  const t = useT();
  return (error: unknown) => {
    const problem = problemOf(error);
    toast({
      bad: true,
      text: t.done.failed,
      detail: problem.detail ?? t.error.codes[problem.code] ?? problem.title,
    });
  };
}

/** Runs a job now. It is done when the run is committed; then the toast leads to it. */
export function useRunNow() {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const onError = useComplain();
  return useMutation({
    mutationFn: ({ job, params }: { job: string; params?: unknown }) => runJob(refOf(job), params),
    onError,
    onSuccess: (accepted) => {
      void refreshJobs(client);
      toast({
        text: t.done.started(accepted.job),
        action: {
          label: t.act.openRun,
          run: () => void navigate({ to: "/runs/$runId", params: { runId: accepted.run_id } }),
        },
      });
    },
  });
}

interface Pausing {
  job: string;
  paused: boolean;
  note?: string;
  /** When it resumes by itself. */
  until?: string;
}

/** Pauses or resumes a job; the toast takes it back. */
export function usePause() {
  const t = useT();
  const client = useQueryClient();
  const onError = useComplain();
  const mutation = useMutation({
    mutationFn: ({ job, paused, note = "", until }: Pausing) =>
      paused ? pauseJob(refOf(job), note, until) : resumeJob(refOf(job)),
    onError,
    onSuccess: (_, { job, paused }) => {
      void refreshJobs(client);
      toast({
        text: paused ? t.done.paused(job) : t.done.resumed(job),
        action: { label: t.act.undo, run: () => mutation.mutate({ job, paused: !paused }) },
      });
    },
  });
  return mutation;
}

export function useCancelRun() {
  const t = useT();
  const client = useQueryClient();
  const onError = useComplain();
  return useMutation({
    mutationFn: ({ runId, job, reason }: { runId: string; job: string; reason: string }) =>
      cancelRun(runId, job, reason),
    onError,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: runsKey });
      toast({ text: t.done.cancelling });
    },
  });
}
