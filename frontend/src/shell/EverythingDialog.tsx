import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { holdQuery, setPause } from "@/api/cluster";
import { fireCounts } from "@/api/schedule";
import { TextField } from "@/components/fields";
import { PauseEndField } from "@/components/PauseEndField";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";
import { AskDialog } from "./AskDialog";

const hour = 3_600_000;

/** Asks before everything is paused, and says how many fires that skips; or before it is resumed. */
export default function EverythingDialog({ onClose }: { onClose(): void }) {
  const t = usePageT();
  const client = useQueryClient();
  const paused = useQuery(holdQuery).data?.paused;
  const done = () => void client.invalidateQueries();
  if (paused === undefined) return null;
  if (!paused) return <PauseDialog onDone={done} onClose={onClose} />;
  return (
    <AskDialog
      title={t.cluster.resumeAsk}
      hint={t.cluster.resumeHint}
      verb={t.cluster.resumeAll}
      mild
      act={() => setPause(false, "")}
      onDone={done}
      onClose={onClose}
    />
  );
}

function PauseDialog({ onDone, onClose }: { onDone(): void; onClose(): void }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const [from] = useState(now);
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const until = endOf(end, now, f.zone);
  const range = { from: new Date(from).toISOString(), to: new Date(from + hour).toISOString() };
  const due = useQuery(fireCounts(range, 1, "pause everything")).data?.counts[0];
  return (
    <AskDialog
      title={t.cluster.pauseAsk}
      hint={
        <>
          {t.cluster.pauseHint} {due ? <b>{t.cluster.pauseSkips(due)}</b> : null}
        </>
      }
      verb={t.cluster.pauseAll}
      disabled={Number.isNaN(until)}
      act={() => setPause(true, note, until === undefined ? undefined : new Date(until).toISOString())}
      onDone={onDone}
      onClose={onClose}
    >
      <PauseEndField value={end} onChange={setEnd} />
      <TextField label={t.cluster.reason} value={note} maxLength={500} onChange={setNote} />
    </AskDialog>
  );
}
