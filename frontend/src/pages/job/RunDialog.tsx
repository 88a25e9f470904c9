import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { CodeEditor } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { useT } from "@/i18n";

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
  const value = parse(text);
  const run = () => {
    if (value === undefined) return;
    setBusy(true);
    onRun(value.json).then(onClose, () => setBusy(false));
  };
  return (
    <Dialog
      title={t.job.runAsk(item.definition.job)}
      hint={t.job.runHint}
      open
      wide
      onClose={onClose}
      footer={
        <>
          <span className="c-bad right-auto">{value === undefined && t.job.badJson}</span>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="primary" busy={busy} disabled={value === undefined} onClick={run}>
            {t.act.run}
          </Button>
        </>
      }
    >
      <CodeEditor label={t.run.params} language="json" value={text} onChange={setText} rows={10} />
    </Dialog>
  );
}

function parse(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
