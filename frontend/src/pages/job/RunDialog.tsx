import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { useT } from "@/i18n";
import { paramsIn } from "@/lib/params";

interface RunDialogProps {
  item: JobItem;
  onClose(): void;
  onRun(params: unknown): Promise<unknown>;
}

/** Runs a job once with other parameters. */
export function RunDialog({ item, onClose, onRun }: RunDialogProps) {
  const t = useT();
  const [text, setText] = useState(JSON.stringify(item.definition.params ?? {}, null, 2));
  const [busy, setBusy] = useState(false);
  const value = text.trim() === "" ? undefined : paramsIn(text);
  const run = () => {
    if (value === undefined) return;
    setBusy(true);
    onRun(value.json).then(onClose, () => setBusy(false));
  };
  return (
    <FormDialog
      title={t.job.runAsk(item.definition.job)}
      hint={t.job.runHint}
      wide
      verb={t.act.run}
      busy={busy}
      disabled={value === undefined}
      aside={value === undefined && t.job.badJson}
      onSubmit={run}
      onClose={onClose}
    >
      <CodeEditor label={t.run.params} language="json" value={text} onChange={setText} rows={10} />
    </FormDialog>
  );
}
