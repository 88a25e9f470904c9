import { formatDuration } from "@/lib/duration";
import type { PageWords } from "@/lib/format";
import type { GraphStep } from "@/lib/graph/document";
import { type Box, stackName } from "@/lib/graph/fold";
import { type Figures, together } from "@/lib/graph/heat";
import { gravestOf, isAwaiting, isBad, type StepState } from "@/lib/graph/steps";
import { waitInBrief } from "@/lib/graph/wait";
import type { BoxProps } from "./GraphBox";

export function stateOf(box: Box<GraphStep>): StepState | undefined {
  if (box.steps.length === 1) return box.steps[0]?.state;
  return gravestOf(box.steps.map((s) => s.state));
}

export const isBadBox = (box: Box<GraphStep>): boolean =>
  box.steps.some((s) => s.wrong || (s.state !== undefined && isBad(s.state)));

export function firstOf(boxes: readonly Box<GraphStep>[], fits: (box: Box<GraphStep>) => boolean) {
  return boxes.find(fits)?.id;
}

export interface BoxWords extends PageWords {
  word(state: StepState): string;
  now: number;
}

/** More sources than these are only counted when a box is read out. */
const spoken = 6;

type Words = Pick<
  BoxProps,
  | "name"
  | "kind"
  | "many"
  | "label"
  | "state"
  | "tally"
  | "awaits"
  | "detail"
  | "time"
  | "attempt"
  | "isFinally"
  | "mayFail"
  | "wrong"
  | "change"
  | "heat"
  | "at"
  | "total"
> & { key: string };

/** What each box says. */
export function boxesOf(
  boxes: readonly Box<GraphStep>[],
  ordered: readonly GraphStep[],
  words: BoxWords,
): Words[] {
  const { t, word } = words;
  const places = new Map(ordered.map((s, i) => [s.step, i + 1]));
  return boxes.map((box) => {
    const [first] = box.steps;
    const many = box.steps.length;
    const state = stateOf(box);
    const name = many > 1 ? stackName(box) : (first?.title ?? box.id);
    const alike = box.steps.filter((s) => s.state === state).length;
    const tally = many > 1 && state && alike < many ? t.steps.tally(alike, many) : undefined;
    const change = first?.change && t.steps.changes[first.change];
    const at = places.get(box.id) ?? 1;
    const figures = figuresOfBox(box);
    const heat = figures && heatInWords(figures, words);
    const wait = first?.wait && waitInBrief(first.wait, words.now, words);
    const awaits = many === 1 && state && isAwaiting(state) ? wait : undefined;
    const after = first ? [...new Set(first.after.map((e) => e.step))] : [];
    return {
      key: box.id,
      name,
      kind: first?.kind ?? "other",
      many,
      state,
      tally,
      awaits,
      label: t.steps.item({
        at,
        of: ordered.length,
        name: many > 1 ? t.steps.stack(name, many) : name,
        state: [state && word(state), tally ?? (awaits && `(${awaits})`), change, heat]
          .filter(Boolean)
          .join(" "),
        after: after.slice(0, spoken),
        more: Math.max(0, after.length - spoken),
        wrong: box.steps.some((s) => s.wrong),
      }),
      detail: heat ?? [change, wait ?? first?.detail].filter(Boolean).join(" · "),
      time: many > 1 ? undefined : timeOf(first, words.now),
      heat: figures?.heat,
      attempt: many > 1 ? undefined : first?.attempt,
      isFinally: first?.finally ?? false,
      mayFail: first?.may_fail ?? false,
      wrong: box.steps.some((s) => s.wrong),
      change: first?.change,
      at,
      total: ordered.length,
    };
  });
}

/** How the steps of a box did together; undefined if that is not shown. */
function figuresOfBox(box: Box<GraphStep>): Figures | undefined {
  const all = box.steps.flatMap((s) => s.figures ?? []);
  return all.length === 0 ? undefined : together(all);
}

/** How often steps failed, and how long they take at most as a rule. */
export function heatInWords({ runs, failures, p95_ms }: Figures, { t, f }: PageWords): string {
  if (runs === 0) return t.steps.heats.idle;
  const failed = failures === 0 ? t.steps.heats.never : t.steps.failed(f.percent(failures / runs));
  return p95_ms === undefined ? failed : `${failed} · p95 ${formatDuration(p95_ms)}`;
}

/** How long a step took, or has been running. */
export function timeOf(step: GraphStep | undefined, now: number): string | undefined {
  if (step?.duration_ms !== undefined) return formatDuration(step.duration_ms);
  if (step?.state !== "running" || !step.started_at) return undefined;
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(step.started_at)) / 1000)) * 1000);
}
