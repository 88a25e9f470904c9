import { useState } from "react";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { usePageT } from "@/i18n";
import { useCancelRun } from "@/shell/actions";

/** Asks why a run is cancelled, and cancels it. */
export function CancelDialog({ runId, job, onClose }: { runId: string; job: string; onClose(): void }) {
  const t = usePageT();
  const [reason, setReason] = useState("");
  const cancel = useCancelRun();
  const go = () => cancel.mutate({ runId, job, reason }, { onSettled: onClose });
  return (
    <Dialog
      title={t.run.cancelAsk}
      hint={t.run.cancelHint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.close}</Button>
          <Button look="danger-fill" busy={cancel.isPending} onClick={go}>
            {t.act.cancelRun}
          </Button>
        </>
      }
    >
      <label className="f">
        <span className="lab">{t.run.cancelReason}</span>
        <span className="inp">
          <input value={reason} maxLength={500} onChange={(e) => setReason(e.target.value)} />
        </span>
      </label>
    </Dialog>
  );
}
