import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { type RerunOptions, rerunRun, runsKey } from "@/api/runs";
import type { JobVersion, Run, RunDetail, RunStep } from "@/api/schema.gen";
import { rerunPlan } from "@/api/steps";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { Choice } from "@/components/fields";
import { Refusal } from "@/components/Refusal";
import { SegmentsField } from "@/components/Segments";
import { useSettled } from "@/components/useSettled";
import { usePageT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { type Repeats, startOf, wishFor } from "@/lib/graph/rerun";
import { paramsIn } from "@/lib/params";
import { isFailure } from "@/lib/status";
import { useParamFields } from "@/pages/job/useParamFields";
import { useSave } from "@/shell/useSave";
import { RerunPlan } from "./RerunPlan";

const RunParams = lazy(() => import("../job/RunParams").then((m) => ({ default: m.RunParams })));

interface RerunDialogProps {
  detail: RunDetail;
  run: Run;
  /** What the run was given, as far as it is known. */
  params: unknown;
  /** The job as it is now, unless it was deleted. */
  job: JobVersion | undefined;
  /** Of a workflow its steps. */
  steps?: RunStep[];
  /** The step from which on it is to be repeated. */
  from?: string;
  onClose(): void;
}

/** Does a run again: by which version, with which parameters, and of pieces or steps all or those that failed. */
export default function RerunDialog({
  detail,
  run,
  params,
  job,
  steps = [],
  from,
  onClose,
}: RerunDialogProps) {
  const t = usePageT();
  const w = t.run.retry;
  const navigate = useNavigate();
  const before = params === undefined ? "" : writeJson(params, 2);
  const [version, setVersion] = useState<"latest" | "same">("latest");
  const [pieces, setPieces] = useState<"all" | "failed">("failed");
  const [repeats, setRepeats] = useState<Repeats>(
    from !== undefined ? "from" : isFailure(detail.status) ? "failed" : "all",
  );
  const [start, setStart] = useState(from ?? startOf(steps));
  const [text, setText] = useState(before);
  const fields = useParamFields(job ?? { job: detail.job });
  const inPieces = (run.broadcast_total ?? 0) > 0;
  const value = paramsIn(text);
  const isWorkflow = steps.length > 0;
  const options: RerunOptions = { version };
  if (inPieces) options.pieces = pieces;
  if (isWorkflow) Object.assign(options, wishFor(repeats, start));
  if (text !== before && value) options.params = value.json;
  const asked = useSettled(options, 300);
  const plan = useQuery({ ...rerunPlan(detail.run_id, asked), enabled: isWorkflow });
  const isPlanned = plan.data !== undefined && JSON.stringify(asked) === JSON.stringify(options);
  const retry = useSave({
    act: () => rerunRun(detail.run_id, options),
    stale: runsKey,
    onSaved: (accepted) => {
      onClose();
      void navigate({ to: "/runs/$runId", params: { runId: accepted.run_id } });
    },
  });
  const keepsParams = inPieces && pieces === "failed";
  return (
    <FormDialog
      title={w.title}
      hint={w.hint}
      wide
      verb={t.act.runAgain}
      {...retry}
      disabled={!value || (isWorkflow && !isPlanned)}
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
      {isWorkflow && (
        <SegmentsField
          label={t.steps.edit.title}
          value={repeats}
          options={[
            { value: "failed", label: w.failedSteps },
            { value: "from", label: w.fromStep },
            { value: "all", label: w.allSteps },
          ]}
          onChange={setRepeats}
        />
      )}
      {isWorkflow && repeats === "from" && (
        <Choice
          label={w.from}
          value={start}
          options={steps.map((s) => ({ value: s.step, label: s.step }))}
          onChange={setStart}
        />
      )}
      {!keepsParams && fields.length > 0 && (
        <Suspense>
          <RunParams fields={fields} text={text} onChange={setText} />
        </Suspense>
      )}
      {!keepsParams && fields.length === 0 && (
        <div className="f">
          <span className="lab">{t.run.params}</span>
          <CodeEditor label={t.run.params} language="json" value={text} onChange={setText} rows={8} />
        </div>
      )}
      {isWorkflow && plan.data?.steps && <RerunPlan plan={plan.data.steps} />}
      {isWorkflow && <Refusal error={plan.error} />}
    </FormDialog>
  );
}
