import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fireCounts } from "@/api/schedule";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { PauseEndField } from "@/components/PauseEndField";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";
import type { useGroupPause } from "./useGroupPause";

const hour = 3_600_000;

interface GroupPauseDialogProps {
  group: string;
  pause: ReturnType<typeof useGroupPause>;
  onClose(): void;
}

/** Asks until when a group is paused, and why, and says how many fires that skips. */
export function GroupPauseDialog({ group, pause, onClose }: GroupPauseDialogProps) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const [from] = useState(now);
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const bad = Number.isNaN(endOf(end, now, f.zone));
  const range = { from: new Date(from).toISOString(), to: new Date(from + hour).toISOString() };
  const due = useQuery(fireCounts({ ...range, group }, 1, "pause group")).data?.counts[0];
  return (
    <FormDialog
      title={t.fleet.pause.ask(group)}
      hint={
        <>
          {t.fleet.pause.hint} {due ? <b>{t.cluster.pauseSkips(due)}</b> : null}
        </>
      }
      verb={t.fleet.pause.verb}
      danger
      busy={pause.isPending}
      disabled={bad}
      error={pause.error}
      onSubmit={() => {
        const at = endOf(end, serverNow(), f.zone);
        const until = at === undefined ? undefined : new Date(at).toISOString();
        pause.mutate({ paused: true, note, until }, { onSuccess: onClose });
      }}
      onClose={onClose}
    >
      <PauseEndField value={end} onChange={setEnd} />
      <TextField label={t.cluster.reason} value={note} maxLength={500} onChange={setNote} />
    </FormDialog>
  );
}
