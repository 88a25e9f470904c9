import { useMutation, useQueryClient } from "@tanstack/react-query";
import { BadgeCheck, RotateCcw } from "lucide-react";
import { useState } from "react";
import { runsKey } from "@/api/runs";
import type { ResolveStepRequest } from "@/api/schema.gen";
import { resolveStep, retryStep } from "@/api/steps";
import { Button } from "@/components/Button";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { SegmentsField } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { paramsIn } from "@/lib/params";
import { useComplain } from "@/shell/actions";
import { useSave } from "@/shell/useSave";

interface RecoverProps {
  /** The workflow's run. */
  runId: string;
  step: string;
  may: boolean;
}

/** The ways on for a step that ended badly, while its run is alive. */
export function Recover({ runId, step, may }: RecoverProps) {
  const t = usePageT();
  const client = useQueryClient();
  const [resolving, setResolving] = useState(false);
  const retry = useMutation({
    mutationFn: () => retryStep(runId, step),
    onError: useComplain("retry"),
    onSuccess: () => client.invalidateQueries({ queryKey: runsKey }),
  });
  return (
    <>
      <Button small icon={RotateCcw} may={may} busy={retry.isPending} onClick={() => retry.mutate()}>
        {t.steps.retry}
      </Button>
      <Button small icon={BadgeCheck} may={may} onClick={() => setResolving(true)}>
        {t.steps.resolve.verb}
      </Button>
      {resolving && <ResolveDialog runId={runId} step={step} onClose={() => setResolving(false)} />}
    </>
  );
}

interface ResolveDialogProps {
  runId: string;
  step: string;
  onClose(): void;
}

/** Says by hand that a step has succeeded, and with which result, or that it is skipped. */
export function ResolveDialog({ runId, step, onClose }: ResolveDialogProps) {
  const t = usePageT();
  const w = t.steps.resolve;
  const [as, setAs] = useState<ResolveStepRequest["as"]>("succeeded");
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const result = paramsIn(text);
  const wrong = as === "succeeded" && !result;
  const resolve = useSave({
    act: () => {
      const body: ResolveStepRequest = { as };
      if (as === "succeeded" && result?.json !== undefined) body.result = result.json;
      if (note.trim() !== "") body.note = note.trim();
      return resolveStep(runId, step, body);
    },
    stale: runsKey,
    onSaved: onClose,
  });
  return (
    <FormDialog
      title={w.title(step)}
      hint={w.hint}
      verb={w.verb}
      {...resolve}
      disabled={wrong}
      aside={wrong && t.job.badJson}
      onClose={onClose}
    >
      <SegmentsField
        label={t.steps.columns.state}
        value={as}
        options={[
          { value: "succeeded", label: t.status.succeeded },
          { value: "skipped", label: t.status.skipped },
        ]}
        onChange={setAs}
      />
      {as === "succeeded" && (
        <div className="f">
          <span className="lab">
            {t.run.result} <span className="mut">{t.act.optional}</span>
          </span>
          <CodeEditor label={t.run.result} language="json" value={text} onChange={setText} rows={5} />
        </div>
      )}
      <TextField label={w.note} optional value={note} maxLength={500} onChange={setNote} />
    </FormDialog>
  );
}
