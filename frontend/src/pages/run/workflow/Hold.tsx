import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { runsKey } from "@/api/runs";
import type { Hold } from "@/api/schema.gen";
import { holdRun, resumeRun } from "@/api/steps";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useComplain } from "@/shell/actions";
import { useSave } from "@/shell/useSave";

/** Asks why a workflow's run is put on hold, and does it. */
export function HoldButton({ runId }: { runId: string }) {
  const w = usePageT().steps.hold;
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const hold = useSave({
    act: () => holdRun(runId, note.trim()),
    stale: runsKey,
    onSaved: () => setAsking(false),
  });
  return (
    <>
      <Button icon={Pause} onClick={() => setAsking(true)}>
        {w.verb}
      </Button>
      {asking && (
        <FormDialog title={w.title} hint={w.hint} verb={w.verb} {...hold} onClose={() => setAsking(false)}>
          <TextField label={w.note} optional value={note} maxLength={500} onChange={setNote} />
        </FormDialog>
      )}
    </>
  );
}

/** Says that a run is on hold, since when, by whom and why; whoever may can resume it. */
export function HoldNotice({ runId, hold, may }: { runId: string; hold: Hold; may: boolean }) {
  const { t, f } = usePageWords();
  const client = useQueryClient();
  const now = useNow();
  const resume = useMutation({
    mutationFn: () => resumeRun(runId),
    onError: useComplain(),
    onSuccess: () => client.invalidateQueries({ queryKey: runsKey }),
  });
  return (
    <div className="note warn row g3 wrap" role="status">
      <Pause size={14} aria-hidden />
      <span className="grow">
        {t.steps.hold.held(f.dated(hold.since, now), hold.by)}
        {hold.note && <span dir="auto"> {hold.note}</span>}
      </span>
      <Button small icon={Play} may={may} busy={resume.isPending} onClick={() => resume.mutate()}>
        {t.steps.hold.resume}
      </Button>
    </div>
  );
}
