import { useState } from "react";
import { runsKey } from "@/api/runs";
import { sendSignal } from "@/api/steps";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { paramsIn } from "@/lib/params";
import { useSave } from "@/shell/useSave";

interface SignalDialogProps {
  runId: string;
  signal: string;
  /** What a sender who does not know the run says in its place. */
  signalKey: string | undefined;
  /** The step has not begun to wait for it. */
  early: boolean;
  onClose(): void;
}

/** Sends a signal to a run, with what becomes the result of the step that waits for it. */
export function SignalDialog({ runId, signal, signalKey, early, onClose }: SignalDialogProps) {
  const t = usePageT();
  const w = t.waits;
  const [text, setText] = useState("");
  const data = paramsIn(text);
  const save = useSave({
    act: () => sendSignal(runId, signal, { data: data?.json, ...(!early && { key: signalKey }) }),
    stale: runsKey,
    onSaved: ({ status }) => {
      toast({ text: status === "queued" ? w.sentEarly(signal) : w.sent(signal) });
      onClose();
    },
  });
  return (
    <FormDialog
      title={w.sendTitle(signal)}
      hint={early ? w.sendEarly : w.sendHint}
      verb={w.send}
      {...save}
      disabled={!data}
      aside={!data && t.job.badJson}
      onClose={onClose}
    >
      {signalKey && (
        <p>
          {w.key} <code className="mono">{signalKey}</code>
        </p>
      )}
      <div className="f">
        <span className="lab">
          {w.data} <span className="mut">{t.act.optional}</span>
        </span>
        <CodeEditor label={w.data} language="json" value={text} onChange={setText} rows={5} />
      </div>
    </FormDialog>
  );
}
