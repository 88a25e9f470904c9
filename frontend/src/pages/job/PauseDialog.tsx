import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
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
    <FormDialog
      title={t.job.pauseAsk(item.definition.job)}
      hint={t.job.pauseHint}
      verb={t.act.pause}
      busy={busy}
      onSubmit={pause}
      onClose={onClose}
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
      <TextField label={t.jobs.review.note} value={note} maxLength={500} onChange={setNote} />
    </FormDialog>
  );
}
