import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { PauseEndField } from "@/components/PauseEndField";
import { Ago } from "@/components/Time";
import { ZonedClock } from "@/components/ZonedClock";
import { serverNow } from "@/lib/clock";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";
import { zoneOf } from "@/lib/words";

interface PauseDialogProps {
  item: JobItem;
  onClose(): void;
  onPause(note: string, until: string | undefined): Promise<unknown>;
}

/** Shows which fires will be skipped before a job is paused, for good or for a while. */
export function PauseDialog({ item, onClose, onPause }: PauseDialogProps) {
  const { t, f } = usePageWords();
  const now = useNow();
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const [busy, setBusy] = useState(false);
  const until = endOf(end, now, f.zone);
  const pause = () => {
    const at = endOf(end, serverNow(), f.zone);
    setBusy(true);
    onPause(note, at === undefined ? undefined : new Date(at).toISOString()).then(onClose, () =>
      setBusy(false),
    );
  };
  const zone = zoneOf(item.definition.schedule);
  const zoned = f.in(zone);
  const bad = Number.isNaN(until);
  const lost = item.next_fires.filter((x) => until === undefined || bad || Date.parse(x.fire_time) < until);
  return (
    <FormDialog
      title={t.job.pauseAsk(item.definition.job)}
      hint={lost.length > 0 ? t.job.pauseHint : t.pause.none}
      verb={t.act.pause}
      busy={busy}
      disabled={bad}
      onSubmit={pause}
      onClose={onClose}
    >
      <PauseEndField value={end} onChange={setEnd} />
      {lost.length > 0 && (
        <ul className="fires">
          {lost.slice(0, 5).map((fire) => (
            <li key={fire.fire_time}>
              <span className="fday">{zoned.day(fire.due)}</span>
              <ZonedClock at={fire.due} zone={zone} write={(of) => of.time(fire.due)} />
              <span className="right mut">
                <Ago at={fire.due} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <TextField label={t.joblist.review.note} value={note} maxLength={500} onChange={setNote} />
    </FormDialog>
  );
}
