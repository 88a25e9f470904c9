import type { Job } from "@/api/schema.gen";
import { same } from "@/lib/merge";
import { type GraphStep, stepsOfJob } from "./document";
import { type Edge, edgesOf, type StepChange } from "./steps";

export interface ChangedEdge extends Edge {
  /** The step that comes after. */
  to: string;
}

export interface GraphDiff {
  /** The steps of both versions, those that are the same without a change. */
  steps: GraphStep[];
  added: ChangedEdge[];
  removed: ChangedEdge[];
}

type Steps = Pick<Job, "steps">;

/** What has become of the steps of a job from one version to another. Steps are the same by their names. */
export function diffSteps(before: Steps, after: Steps): GraphDiff {
  const [was, is] = [byName(before), byName(after)];
  const changeOf = (name: string): StepChange | undefined => {
    if (!was.has(name)) return "added";
    if (!is.has(name)) return "removed";
    return same(was.get(name), is.get(name)) ? undefined : "changed";
  };
  const gone = stepsOfJob(before).filter((s) => !is.has(s.step));
  const steps = [...stepsOfJob(after), ...gone].map((s) => ({ ...s, change: changeOf(s.step) }));
  return {
    steps,
    added: without(edgesIn(after), edgesIn(before)),
    removed: without(edgesIn(before), edgesIn(after)),
  };
}

const byName = (job: Steps) => new Map((job.steps ?? []).map((s) => [s.step, s]));

const edgesIn = (job: Steps): ChangedEdge[] =>
  (job.steps ?? []).flatMap((s) => edgesOf(s.after).map((e) => ({ ...e, to: s.step })));

function without(edges: ChangedEdge[], others: ChangedEdge[]): ChangedEdge[] {
  const key = (e: ChangedEdge) => `${e.step} ${e.on} ${e.to}`;
  const known = new Set(others.map(key));
  return edges.filter((e) => !known.has(key(e)));
}
