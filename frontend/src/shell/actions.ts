import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { pauseJob, refreshJobs, resumeJob, runJob } from "@/api/jobs";
import { cancelRun, rerunRun, runsKey } from "@/api/runs";
import type { FieldError } from "@/api/schema.gen";
import { grace, toast, toastBefore } from "@/components/Toasts";
import { useT } from "@/i18n";
import type { Messages } from "@/i18n/en";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";

/** Shows that an action failed, and why, in the reader's language. */
export function useComplain(action: keyof Messages["done"]["failed"] = "other") {
  const t = useT();
  const { sayError } = useSayer();
  return (error: unknown) => toast({ bad: true, text: t.done.failed[action], detail: sayError(error) });
}

/** Shows what is probably wrong with something that was saved, such as the name of a job that does not exist. */
export function useWarn() {
  const t = useT();
  const { say } = useSayer();
  return (saved: unknown) => {
    const warnings = warningsOf(saved);
    if (warnings.length === 0) return;
    const detail = warnings.map((w) => `${w.field} ${say(w.reason)}`).join(t.reasonJoint);
    toast({ bad: true, text: t.done.warned, detail });
  };
}

/** The warnings of an answer that has some. */
function warningsOf(saved: unknown): readonly FieldError[] {
  const has = typeof saved === "object" && saved !== null && "warnings" in saved;
  return has && Array.isArray(saved.warnings) ? saved.warnings : [];
}

interface Wish {
  job: string;
  /** In the place of the job's own. */
  params?: unknown;
  labels?: Record<string, string>;
}

/** Runs a job now. It is done when the run is committed; then the toast leads to it. */
export function useRunNow() {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const onError = useComplain("start");
  return useMutation({
    mutationFn: ({ job, params, labels }: Wish) => runJob(refOf(job), params, labels),
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

/** Runs a job in a moment: one click in a list may be a slip. */
export function useRunSoon() {
  const t = useT();
  const { mutate } = useRunNow();
  return (job: string) => toastBefore(t.done.starts(job, grace / 1000), t.act.undo, () => mutate({ job }));
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
  const notPaused = useComplain("pause");
  const notResumed = useComplain("resume");
  const mutation = useMutation({
    mutationFn: ({ job, paused, note = "", until }: Pausing) =>
      paused ? pauseJob(refOf(job), note, until) : resumeJob(refOf(job)),
    onError: (error, { paused }) => (paused ? notPaused : notResumed)(error),
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

/** Does a run again as it was given, by its job's newest version, in a moment. */
export function useRerunSoon() {
  const t = useT();
  const client = useQueryClient();
  const navigate = useNavigate();
  const onError = useComplain("start");
  const { mutate } = useMutation({
    mutationFn: ({ runId }: { runId: string; job: string }) => rerunRun(runId, {}),
    onError,
    onSuccess: (accepted, { job }) => {
      void client.invalidateQueries({ queryKey: runsKey });
      toast({
        text: t.done.started(job),
        action: {
          label: t.act.openRun,
          run: () => void navigate({ to: "/runs/$runId", params: { runId: accepted.run_id } }),
        },
      });
    },
  });
  return (run: { runId: string; job: string }) =>
    toastBefore(t.done.starts(run.job, grace / 1000), t.act.undo, () => mutate(run));
}

export function useCancelRun() {
  const t = useT();
  const client = useQueryClient();
  const onError = useComplain("cancel");
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
