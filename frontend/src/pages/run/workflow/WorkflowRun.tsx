import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import type { RunDetail, RunSteps } from "@/api/schema.gen";
import { Graph } from "@/components/graph/Graph";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { stepsOfRun } from "@/lib/graph/document";
import { useNow } from "@/lib/now";
import { isLiving } from "@/lib/status";
import { workflowViews } from "@/router";
import { StepLog } from "./StepLog";
import { StepPanel } from "./StepPanel";
import { StepTable } from "./StepTable";
import { StepTimeline } from "./StepTimeline";
import "./workflow.css";

type View = (typeof workflowViews)[number];

interface WorkflowRunProps {
  detail: RunDetail;
  steps: RunSteps;
  /** What is known of the run as a whole, beside it while no step is chosen. */
  children: ReactNode;
  onRerun(from: string): void;
}

/** The run of a workflow: its graph, when its steps ran, a table of them, and their logs; beside it one step. */
export default function WorkflowRun({ detail, steps: { steps }, children, onRerun }: WorkflowRunProps) {
  const t = usePageT();
  const navigate = useNavigate();
  const now = useNow();
  const { view: given, step: chosen, round } = useSearch({ from: "/runs/$runId" });
  const view = given ?? "graph";
  const drawn = useMemo(() => stepsOfRun(steps), [steps]);
  const go = (search: { view?: View; step?: string; round?: number }) =>
    void navigate({
      to: "/runs/$runId",
      params: { runId: detail.run_id },
      search: { view: given, step: chosen, round, ...search },
      replace: true,
    });
  const choose = (step: string) => go({ step, round: undefined });
  const show = (next: View) => go({ view: next === "graph" ? undefined : next });
  const one = steps.find((s) => s.step === chosen);
  const views = (
    <Segments
      label={t.steps.views}
      value={view}
      options={workflowViews.map((v) => ({ value: v, label: t.steps.view[v] }))}
      onChange={show}
    />
  );
  return (
    <div className={one && view !== "log" ? "runbody withstep" : "runbody"}>
      <div className="logside">
        {view === "graph" && (
          <Graph
            steps={drawn}
            label={t.steps.view.graph}
            chosen={chosen}
            onChoose={choose}
            onTable={() => show("steps")}
            now={isLiving(detail.status) ? now : 0}
          >
            {views}
          </Graph>
        )}
        {view === "timeline" && (
          <>
            <div className="logbar">{views}</div>
            <StepTimeline steps={steps} chosen={chosen} now={now} onChoose={choose} />
          </>
        )}
        {view === "steps" && (
          <>
            <div className="logbar">{views}</div>
            <StepTable steps={steps} chosen={chosen} now={now} onChoose={choose} />
          </>
        )}
        {view === "log" && (
          <StepLog steps={steps} chosen={chosen} onChoose={choose}>
            {views}
          </StepLog>
        )}
      </div>
      {one && view !== "log" ? (
        <StepPanel
          key={one.step}
          detail={detail}
          step={one}
          round={round}
          steps={steps}
          onChoose={choose}
          onRound={(next) => go({ round: next })}
          onClose={() => go({ step: undefined, round: undefined })}
          onRerun={onRerun}
        />
      ) : (
        children
      )}
    </div>
  );
}
