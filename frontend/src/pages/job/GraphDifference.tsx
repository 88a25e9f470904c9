import { useMemo } from "react";
import type { JobVersion } from "@/api/schema.gen";
import { Graph } from "@/components/graph/Graph";
import { usePageT } from "@/i18n";
import { type ChangedEdge, diffSteps } from "@/lib/graph/diff";

const changes = ["added", "removed", "changed"] as const;
const nothing = () => {};

/** The steps of two versions in one graph: which were added, removed and changed. Nothing if they are the same. */
export default function GraphDifference({ before, after }: { before: JobVersion; after: JobVersion }) {
  const t = usePageT();
  const { steps, added, removed } = useMemo(() => diffSteps(before, after), [before, after]);
  const tally = changes.flatMap((c) => {
    const n = steps.filter((s) => s.change === c).length;
    return n === 0 ? [] : t.steps.tallies[c](n);
  });
  if (tally.length === 0) return null;
  return (
    <section className="graphdiff" aria-label={t.steps.difference}>
      <p>{tally.join(t.reasonJoint)}</p>
      <Graph steps={steps} label={t.steps.difference} onChoose={nothing} />
      <Edges title={t.steps.edgesAdded} edges={added} />
      <Edges title={t.steps.edgesRemoved} edges={removed} />
    </section>
  );
}

/** So many edges are listed; the difference of the documents has all of them. */
const most = 50;

function Edges({ title, edges }: { title: string; edges: ChangedEdge[] }) {
  const t = usePageT();
  if (edges.length === 0) return null;
  return (
    <p className="row g2 wrap">
      <span className="mut">{title}</span>
      {edges.slice(0, most).map((e) => (
        <span key={`${e.step} ${e.on} ${e.to}`} className="nowrap">
          <span className="mono">
            {e.step} → {e.to}
          </span>{" "}
          <span className="mut">{t.steps.on[e.on]}</span>
        </span>
      ))}
      {edges.length > most && "…"}
    </p>
  );
}
