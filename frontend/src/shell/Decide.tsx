import { Stamp, X } from "lucide-react";
import { useState } from "react";
import { runsKey } from "@/api/runs";
import type { Reason, RunWait } from "@/api/schema.gen";
import { type Decision, decideStep } from "@/api/steps";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { neededBy } from "@/lib/graph/wait";
import { kiosk } from "@/lib/kiosk";
import { useSayer } from "@/lib/reason";
import { useSave } from "./useSave";

export interface Wanted {
  /** The workflow's run. */
  run_id: string;
  step: string;
  wait: RunWait;
  may?: boolean;
  why_not?: Reason;
}

/** Approves or rejects a step, with a note; or says why one may not. */
export function Decide({ of }: { of: Wanted }) {
  const t = usePageT();
  const { say } = useSayer();
  const [asked, setAsked] = useState<Decision>();
  // The history hears of it a moment later. Another round begins to wait at another time.
  const [decided, setDecided] = useState<{ since: string | undefined; as: Decision }>();
  const done = decided && decided.since === of.wait.since ? decided.as : undefined;
  const may = of.may === true && !kiosk && done === undefined;
  return (
    <>
      <div className="row g2 wrap">
        <Button small icon={Stamp} look="primary" disabled={!may} onClick={() => setAsked("approve")}>
          {t.waits.approve}
        </Button>
        <Button small icon={X} look="danger" disabled={!may} onClick={() => setAsked("reject")}>
          {t.waits.reject}
        </Button>
        {done && <span className="mut">{t.waits.decided[done]}</span>}
      </div>
      {!done && !of.may && of.why_not && <p className="sec whynot">{say(of.why_not)}</p>}
      {asked && (
        <DecideDialog
          of={of}
          as={asked}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            setDecided({ since: of.wait.since, as: asked });
          }}
        />
      )}
    </>
  );
}

interface DecideDialogProps {
  of: Wanted;
  as: Decision;
  onClose(): void;
  onDone(): void;
}

function DecideDialog({ of, as, onClose, onDone }: DecideDialogProps) {
  const t = usePageT();
  const w = t.waits;
  const [note, setNote] = useState("");
  const more = neededBy(of.wait) - (of.wait.approvals?.length ?? 0) - 1;
  const save = useSave({
    act: () => decideStep(as, of.run_id, of.step, note.trim()),
    stale: runsKey,
    onSaved: ({ status }) => {
      toast({ text: status === "queued" ? w.wantsMore : `${w.decided[as]}: ${of.step}` });
      onDone();
    },
  });
  const approves = as === "approve";
  const hint = approves ? (more > 0 ? w.approveFirst(more) : w.approveHint) : w.rejectHint;
  return (
    <FormDialog
      title={approves ? w.approveStep(of.step) : w.rejectStep(of.step)}
      hint={hint}
      verb={approves ? w.approve : w.reject}
      danger={!approves}
      {...save}
      onClose={onClose}
    >
      <TextField label={w.note} optional value={note} maxLength={500} onChange={setNote} />
    </FormDialog>
  );
}
