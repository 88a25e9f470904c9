import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { stepHistoryQuery } from "@/api/steps";
import { stepYaml } from "@/api/yaml";
import { CopyButton } from "@/components/Copy";
import { Graph } from "@/components/graph/Graph";
import { JobLink } from "@/components/JobName";
import { Legend } from "@/components/Legend";
import { Card, Failed, Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { usePageWords } from "@/lib/format";
import { stepsOfJob } from "@/lib/graph/document";
import { figuresOf, heats } from "@/lib/graph/heat";
import { plannedWait, waitInWords } from "@/lib/graph/wait";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import type { WholeRange } from "@/lib/timerange";
import { zoneOf } from "@/lib/words";
import { historyViews } from "@/router";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";
import { StepFiguresTable } from "./StepFiguresTable";
import { StepGrid } from "./StepGrid";
import "./stepgrid.css";

type View = (typeof historyViews)[number];

/**
 * The steps of a workflow as its newest version has them, with how they did in the runs of a range: as a graph, run by
 * run, and as figures. Of a step that is chosen in the graph also the definition.
 */
export default function GraphTab({ item }: { item: JobItem }) {
  const words = usePageWords();
  const { t } = words;
  const now = useNow();
  const [chosen, setChosen] = useState<string>();
  const navigate = useNavigate();
  const search = useSearch({ from: "/jobs/$group/$name/$tab" });
  const { view = "graph" } = search;
  const ref = refOf(item.definition.job);
  const ranged = useRange(search, { usual: "30d", within: item.definition.job });
  const history = useQuery(stepHistoryQuery(ref, ranged.window));
  const did = history.data;
  const steps = useMemo(() => stepsOfJob(item.definition), [item.definition]);
  const drawn = useMemo(() => {
    if (!did || did.counted === 0) return steps;
    const figures = new Map(did.steps.map((s) => [s.step, figuresOf(s)]));
    return steps.map((s) => ({ ...s, figures: figures.get(s.step) }));
  }, [steps, did]);
  const step = item.definition.steps?.find((s) => s.step === chosen);
  const wait = plannedWait(step?.wait);
  const yaml = useQuery({ ...stepYaml(step), enabled: step !== undefined }).data;
  const set = (change: { view?: View } | WholeRange) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...ref, tab: "graph" },
      search: { ...search, ...change },
      replace: true,
    });
  const show = (next: View) => set({ view: next === "graph" ? undefined : next });
  const tools = (
    <>
      <Segments
        label={t.steps.historyViews}
        value={view}
        options={historyViews.map((v) => ({ value: v, label: t.steps.historyView[v] }))}
        onChange={show}
      />
      <RangePicker of={ranged} jobZone={zoneOf(item.definition.schedule)} onChange={set} />
      {did && view !== "grid" && (
        <span className="mut">
          {did.cut && did.since
            ? t.steps.countedSince(did.counted, words.f.short(did.since, now))
            : t.steps.counted(did.counted)}
        </span>
      )}
    </>
  );
  if (view !== "graph") {
    return (
      <div className="jobgraph">
        <RangeNote of={ranged} />
        <div className="gtools">{tools}</div>
        {!did &&
          (history.isError ? (
            <Failed error={history.error} onRetry={() => void history.refetch()} />
          ) : (
            <Skeleton rows={8} />
          ))}
        {did && view === "grid" && <StepGrid history={did} steps={steps} now={now} />}
        {did && view === "figures" && <StepFiguresTable history={did} steps={steps} now={now} />}
      </div>
    );
  }
  return (
    <div className="jobgraph">
      <RangeNote of={ranged} />
      <Graph
        steps={drawn}
        label={t.steps.view.graph}
        chosen={chosen}
        onChoose={setChosen}
        onTable={() => show("figures")}
      >
        {tools}
        {did && did.counted > 0 && <Legend marks={heats.map((h) => [`gheat h-${h}`, t.steps.heats[h]])} />}
      </Graph>
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
