import { useState } from "react";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { useT } from "@/i18n";

interface DeleteDialogProps {
  job: string;
  onClose(): void;
  onDelete(): Promise<void>;
}

/** Asks before a job is deleted, by its name. */
export function DeleteDialog({ job, onClose, onDelete }: DeleteDialogProps) {
  const t = useT();
  const [busy, setBusy] = useState(false);
  const confirm = () => {
    setBusy(true);
    onDelete().then(onClose, () => setBusy(false));
  };
  return (
    <Dialog
      title={t.job.removeAsk(job)}
      hint={t.job.removeHint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="danger-fill" busy={busy} onClick={confirm}>
            {t.act.remove}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
