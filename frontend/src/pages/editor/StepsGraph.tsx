import { useMemo } from "react";
import type { Job } from "@/api/schema.gen";
import { Graph } from "@/components/graph/Graph";
import { usePageT } from "@/i18n";
import { stepsOfJob, wrongSteps } from "@/lib/graph/document";

interface StepsGraphProps {
  doc: Job;
  errors: ReadonlyMap<string, string>;
  chosen: string | undefined;
  onChoose(step: string): void;
}

/** The graph of the steps that are being written. Those with problems are marked. */
export default function StepsGraph({ doc, errors, chosen, onChoose }: StepsGraphProps) {
  const t = usePageT();
  const steps = useMemo(() => stepsOfJob(doc, wrongSteps(errors.keys())), [doc, errors]);
  if (steps.length === 0) return null;
  return (
    <div className="stepsgraph">
      <Graph steps={steps} label={t.steps.view.graph} chosen={chosen} onChoose={onChoose} />
    </div>
  );
}
