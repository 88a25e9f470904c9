import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { stepYaml } from "@/api/yaml";
import { CopyButton } from "@/components/Copy";
import { Graph } from "@/components/graph/Graph";
import { JobLink } from "@/components/JobName";
import { Card } from "@/components/Panel";
import { usePageWords } from "@/lib/format";
import { stepsOfJob } from "@/lib/graph/document";
import { plannedWait, waitInWords } from "@/lib/graph/wait";
import { useNow } from "@/lib/now";

/** The steps of a workflow as its newest version has them; of one that is chosen the definition. */
export default function GraphTab({ item }: { item: JobItem }) {
  const words = usePageWords();
  const { t } = words;
  const now = useNow();
  const [chosen, setChosen] = useState<string>();
  const steps = useMemo(() => stepsOfJob(item.definition), [item.definition]);
  const step = item.definition.steps?.find((s) => s.step === chosen);
  const wait = plannedWait(step?.wait);
  const yaml = useQuery({ ...stepYaml(step), enabled: step !== undefined }).data;
  return (
    <div className="jobgraph">
      <Graph steps={steps} label={t.steps.view.graph} chosen={chosen} onChoose={setChosen} />
      {step && (
        <div className="pad">
          <Card title={step.title ?? step.step} aside={<CopyButton text={yaml ?? ""} label={t.act.copy} />}>
            {step.call && (
              <p className="row g2">
                {t.steps.calls} <JobLink job={step.call} />
              </p>
            )}
            {wait && (
              <p>
                {words.t.waits.heading}: {waitInWords(wait, now, words)}
              </p>
            )}
            <pre className="jsonbox" tabIndex={0}>
              {yaml}
            </pre>
          </Card>
        </div>
      )}
    </div>
  );
}
