import { formatDuration } from "@/lib/duration";
import type { PageWords } from "@/lib/format";
import type { GraphStep } from "@/lib/graph/document";
import { type Box, stackName } from "@/lib/graph/fold";
import { isAwaiting, isBad, type StepState } from "@/lib/graph/steps";
import { waitInBrief } from "@/lib/graph/wait";
import type { BoxProps } from "./GraphBox";

/** Of several steps in one box, the state that it has: the first of these that one of them is in. */
const gravest: StepState[] = [
  "failed",
  "timed_out",
  "lost",
  "missed",
  "awaits_approval",
  "running",
  "awaits_signal",
  "awaits_runs",
  "awaits_time",
  "queued",
  "pending",
  "ready",
  "waiting",
  "unknown",
  "cancelled",
  "succeeded",
  "skipped",
];

export function stateOf(box: Box<GraphStep>): StepState | undefined {
  if (box.steps.length === 1) return box.steps[0]?.state;
  return gravest.find((state) => box.steps.some((s) => s.state === state));
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
        state: [state && word(state), tally ?? (awaits && `(${awaits})`), change].filter(Boolean).join(" "),
        after: after.slice(0, spoken),
        more: Math.max(0, after.length - spoken),
        wrong: box.steps.some((s) => s.wrong),
      }),
      detail: [change, wait ?? first?.detail].filter(Boolean).join(" · "),
      time: many > 1 ? undefined : timeOf(first, words.now),
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

/** How long a step took, or has been running. */
export function timeOf(step: GraphStep | undefined, now: number): string | undefined {
  if (step?.duration_ms !== undefined) return formatDuration(step.duration_ms);
  if (step?.state !== "running" || !step.started_at) return undefined;
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(step.started_at)) / 1000)) * 1000);
}
