import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type RetryOptions, retryRun, runsKey } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { Segments } from "@/components/Segments";
import { useT } from "@/i18n";

interface RetryDialogProps {
  detail: RunDetail;
  run: Run;
  /** What the run was given, as far as it is known. */
  params: unknown;
  onClose(): void;
}

/** Does a run again: by which version, with which parameters, and of pieces all or those that failed. */
export default function RetryDialog({ detail, run, params, onClose }: RetryDialogProps) {
  const t = useT();
  const w = t.run.retry;
  const client = useQueryClient();
  const navigate = useNavigate();
  const before = params === undefined ? "" : JSON.stringify(params, null, 2);
  const [version, setVersion] = useState<"latest" | "same">("latest");
  const [pieces, setPieces] = useState<"all" | "failed">("failed");
  const [text, setText] = useState(before);
  const inPieces = (run.broadcast_total ?? 0) > 0;
  const value = parse(text);
  const retry = useMutation({
    mutationFn: () => {
      const options: RetryOptions = { version };
      if (inPieces) options.pieces = pieces;
      if (text !== before && value) options.params = value.json;
      return retryRun(detail.run_id, options);
    },
    onSuccess: (accepted) => {
      void client.invalidateQueries({ queryKey: runsKey });
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
      busy={retry.isPending}
      disabled={!value}
      error={retry.error}
      aside={!value && t.job.badJson}
      onSubmit={() => retry.mutate()}
      onClose={onClose}
    >
      <div className="f">
        <span className="lab">{w.version}</span>
        <Segments
          label={w.version}
          value={version}
          options={[
            { value: "latest", label: w.latest },
            { value: "same", label: w.same(run.version) },
          ]}
          onChange={setVersion}
        />
      </div>
      {inPieces && (
        <div className="f">
          <span className="lab">{t.run.pieces}</span>
          <Segments
            label={t.run.pieces}
            value={pieces}
            options={[
              { value: "failed", label: w.failedPieces },
              { value: "all", label: w.allPieces },
            ]}
            onChange={setPieces}
          />
        </div>
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

/** No text at all is no parameters, which is a value too. */
function parse(text: string): { json: unknown } | undefined {
  if (text.trim() === "") return { json: undefined };
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
