import { useQueryClient } from "@tanstack/react-query";
import { deleteJob, refreshJobs } from "@/api/jobs";
import { usePageT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { AskDialog } from "@/shell/AskDialog";

interface DeleteDialogProps {
  job: string;
  onDone?(): void;
  onClose(): void;
}

/** Asks before a job is deleted, by its name. */
export function DeleteDialog({ job, onDone, onClose }: DeleteDialogProps) {
  const t = usePageT();
  const client = useQueryClient();
  return (
    <AskDialog
      title={t.job.removeAsk(job)}
      hint={t.job.removeHint}
      verb={t.act.remove}
      done={t.done.deleted(job)}
      act={() => deleteJob(refOf(job))}
      onDone={() => {
        void refreshJobs(client);
        onDone?.();
      }}
      onClose={onClose}
    />
  );
}
