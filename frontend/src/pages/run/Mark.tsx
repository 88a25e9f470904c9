import { useQueryClient } from "@tanstack/react-query";
import { BookmarkCheck } from "lucide-react";
import { useState } from "react";
import { markRun, runQuery, runsKey } from "@/api/runs";
import type { MarkRequest, RunDetail } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { SegmentsField } from "@/components/Segments";
import { Clock } from "@/components/Time";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { isMarkable } from "@/lib/status";
import { useMay } from "@/shell/may";
import { useSave } from "@/shell/useSave";

/** What somebody says of a run that ended without success, and the way to say it. */
export function Mark({ detail }: { detail: RunDetail }) {
  const { t } = usePageWords();
  const [open, setOpen] = useState(false);
  const operates = useMay()("operate", refOf(detail.job).group);
  const { mark } = detail;
  if (!isMarkable(detail.status) || (!mark && !operates)) return null;
  return (
    <section>
      <h2>
        {t.run.mark.title}
        {operates && (
          <span className="right">
            <Button look="ghost" small onClick={() => setOpen(true)}>
              {mark ? t.run.mark.change : t.run.mark.verb}
            </Button>
          </span>
        )}
      </h2>
      {mark && (
        <div className="note info">
          <BookmarkCheck size={14} aria-hidden />
          <span className="grow">
            <b>{t.run.mark.as[mark.as]}</b> {mark.note}
            <span className="mut row g2">
              {mark.by && t.runs.by(mark.by)} <Clock at={mark.at} />
            </span>
          </span>
        </div>
      )}
      {open && <MarkDialog detail={detail} onClose={() => setOpen(false)} />}
    </section>
  );
}

/** Marks a run, or changes its mark. */
export function MarkDialog({ detail, onClose }: { detail: RunDetail; onClose(): void }) {
  const { t } = usePageWords();
  const w = t.run.mark;
  const client = useQueryClient();
  const [as, setAs] = useState<MarkRequest["as"]>(detail.mark?.as ?? "handled");
  const [note, setNote] = useState("");
  const mark = useSave({
    act: () => markRun(detail.run_id, { as, note: note.trim() }),
    stale: runsKey,
    onSaved: (marked) => {
      client.setQueryData(runQuery(detail.run_id).queryKey, marked);
      onClose();
    },
  });
  return (
    <FormDialog
      title={w.ask}
      hint={w.hint}
      verb={w.verb}
      {...mark}
      disabled={note.trim() === ""}
      onClose={onClose}
    >
      <SegmentsField
        label={w.title}
        value={as}
        options={[
          { value: "handled", label: w.as.handled },
          { value: "succeeded", label: w.as.succeeded },
          { value: "none", label: w.as.none, disabled: !detail.mark },
        ]}
        onChange={setAs}
      />
      <TextField label={w.note} value={note} maxLength={2000} required onChange={setNote} />
    </FormDialog>
  );
}
