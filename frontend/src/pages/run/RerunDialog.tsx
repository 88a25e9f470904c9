import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type RerunOptions, rerunRun, runsKey } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { SegmentsField } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { paramsIn } from "@/lib/params";
import { useSave } from "@/shell/useSave";

interface RerunDialogProps {
  detail: RunDetail;
  run: Run;
  /** What the run was given, as far as it is known. */
  params: unknown;
  onClose(): void;
}

/** Does a run again: by which version, with which parameters, and of pieces all or those that failed. */
export default function RerunDialog({ detail, run, params, onClose }: RerunDialogProps) {
  const t = usePageT();
  const w = t.run.retry;
  const navigate = useNavigate();
  const before = params === undefined ? "" : writeJson(params, 2);
  const [version, setVersion] = useState<"latest" | "same">("latest");
  const [pieces, setPieces] = useState<"all" | "failed">("failed");
  const [text, setText] = useState(before);
  const inPieces = (run.broadcast_total ?? 0) > 0;
  const value = paramsIn(text);
  const retry = useSave({
    act: () => {
      const options: RerunOptions = { version };
      if (inPieces) options.pieces = pieces;
      if (text !== before && value) options.params = value.json;
      return rerunRun(detail.run_id, options);
    },
    stale: runsKey,
    onSaved: (accepted) => {
      onClose();
      void navigate({ to: "/runs/$runId", params: { runId: accepted.run_id } });
    },
  });
  const repeats = inPieces && pieces === "failed";
  return (
    <FormDialog
      title={w.title}
      hint={w.hint}
      wide
      verb={t.act.runAgain}
      {...retry}
      disabled={!value}
      aside={!value && t.job.badJson}
      onClose={onClose}
    >
      <SegmentsField
        label={w.version}
        value={version}
        options={[
          { value: "latest", label: w.latest },
          { value: "same", label: w.same(run.version) },
        ]}
        onChange={setVersion}
      />
      {inPieces && (
        <SegmentsField
          label={t.run.pieces}
          value={pieces}
          options={[
            { value: "failed", label: w.failedPieces },
            { value: "all", label: w.allPieces },
          ]}
          onChange={setPieces}
        />
      )}
      {!repeats && (
        <div className="f">
          <span className="lab">{t.run.params}</span>
          <CodeEditor label={t.run.params} language="json" value={text} onChange={setText} rows={8} />
        </div>
      )}
    </FormDialog>
  );
}
