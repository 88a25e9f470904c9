import type { StepFigures, StepHistory, StepsOfRun } from "@/api/schema.gen";
import type { GraphStep } from "./document";
import { fold, stackName } from "./fold";
import { gravestOf, inOrder, type StepState } from "./steps";

/** What became of the steps of a row in one run. */
export interface Cell {
  /** One of the steps that is in the state. */
  step: string;
  /** Undefined if the run has none of the steps. */
  state: StepState | undefined;
  /** How many of the steps are in the state, if not all are. */
  alike?: number;
  /** How long the longest took. */
  ms: number;
}

export interface Row {
  id: string;
  name: string;
  kind: string;
  many: number;
  /** Only older versions have it. */
  gone: boolean;
  cells: Cell[];
}

export interface Grid {
  rows: Row[];
  /** The oldest first. */
  runs: StepsOfRun[];
}

/** The last runs of a workflow, with a row for each step, or for several that are alike, in the order in which they run. */
export function gridOf(history: StepHistory, steps: readonly GraphStep[]): Grid {
  const places = new Map(history.steps.map((s, i) => [s.step, i]));
  const runs = history.runs.toReversed();
  const boxes = [
    ...fold(inOrder(steps)).boxes,
    ...history.steps.filter(isGone).map(({ step }) => ({ id: step, steps: [goneStep(step)] })),
  ];
  const rows = boxes.map((box): Row => {
    const [first] = box.steps;
    return {
      id: box.id,
      name: box.steps.length > 1 ? stackName(box) : (first?.title ?? box.id),
      kind: first?.kind ?? "other",
      many: box.steps.length,
      gone: history.steps[places.get(box.id) ?? -1]?.gone ?? false,
      cells: runs.map((run) => cellOf(box.steps, run, places)),
    };
  });
  return { rows, runs };
}

const goneStep = (step: string): GraphStep => ({ step, kind: "other", after: [] });

const isGone = (s: StepFigures): boolean => s.gone === true;

function cellOf(steps: readonly GraphStep[], run: StepsOfRun, places: ReadonlyMap<string, number>): Cell {
  const all = steps.map(({ step }) => ({ step, place: places.get(step) ?? -1 }));
  const states: (StepState | undefined)[] = all.map(({ place }) => run.states[place] || undefined);
  const state = gravestOf(states);
  const alike = states.filter((s) => s === state).length;
  return {
    step: all[states.indexOf(state)]?.step ?? "",
    state,
    alike: alike < steps.length ? alike : undefined,
    ms: Math.max(0, ...all.map(({ place }) => run.durations_ms[place] ?? 0)),
  };
}

/** How tall the bars of runs are, of the longest; undefined of one that did not begin. */
export function barsOf(
  runs: readonly StepsOfRun[],
  now: number,
): ({ ms: number; share: number } | undefined)[] {
  const lasted = runs.map((r) =>
    r.started_at === undefined
      ? undefined
      : Math.max(0, (r.finished_at ? Date.parse(r.finished_at) : now) - Date.parse(r.started_at)),
  );
  const longest = Math.max(1, ...lasted.map((ms) => ms ?? 0));
  return lasted.map((ms) => (ms === undefined ? undefined : { ms, share: ms / longest }));
}
