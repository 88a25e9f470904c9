import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Ago } from "@/components/Time";
import { useWords } from "@/lib/format";

interface PauseDialogProps {
  item: JobItem;
  onClose(): void;
  onPause(note: string): Promise<unknown>;
}

/** Shows which fires will be skipped before a job is paused. */
export function PauseDialog({ item, onClose, onPause }: PauseDialogProps) {
  const { t, f } = useWords();
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const pause = () => {
    setBusy(true);
    onPause(note).then(onClose, () => setBusy(false));
  };
  const zoned = f.in(item.definition.schedule?.zone ?? f.zone);
  return (
    <Dialog
      title={t.job.pauseAsk(item.definition.job)}
      hint={t.job.pauseHint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="primary" busy={busy} onClick={pause}>
            {t.act.pause}
          </Button>
        </>
      }
    >
      <ul className="fires">
        {item.next_fires.slice(0, 5).map((fire) => (
          <li key={fire.fire_time}>
            <span className="fday">{zoned.day(fire.due)}</span>
            <span className="num">{zoned.time(fire.due)}</span>
            <span className="right mut">
              <Ago at={fire.due} />
            </span>
          </li>
        ))}
      </ul>
      <label className="f">
        <span className="lab">{t.jobs.review.note}</span>
        <span className="inp">
          <input value={note} maxLength={500} onChange={(e) => setNote(e.target.value)} />
        </span>
      </label>
    </Dialog>
  );
}
