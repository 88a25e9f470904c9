import {
  CalendarCheck2,
  CircleDashed,
  CircleDot,
  CircleQuestionMark,
  type LucideIcon,
  RadioTower,
  Stamp,
  Timer,
} from "lucide-react";
import { statusIcons } from "@/components/Status";
import { usePageT } from "@/i18n";
import { type StepState as State, stepTones } from "@/lib/graph/steps";

export const stepIcons: Record<State, LucideIcon> = {
  ...statusIcons,
  waiting: CircleDashed,
  ready: CircleDot,
  unknown: CircleQuestionMark,
  awaits_time: Timer,
  awaits_signal: RadioTower,
  awaits_approval: Stamp,
  awaits_runs: CalendarCheck2,
};

/** The word for the state of a step. */
export function useStateWord(): (state: State) => string {
  const t = usePageT();
  const words: Record<State, string> = { ...t.status, ...t.steps.states };
  return (state) => words[state];
}

interface StepStateProps {
  state: State;
  pill?: boolean;
  /** What is said in the place of the word. */
  children?: string;
}

/** The state of a step: icon, word and colour together. */
export function StepState({ state, pill, children }: StepStateProps) {
  const word = useStateWord();
  const Icon = stepIcons[state];
  return (
    <span className={`st c-${stepTones[state]}${pill ? " pill" : ""}`}>
      <Icon size={14} className={state === "running" ? "spin" : undefined} aria-hidden />
      {children === undefined ? word(state) : <span className="trunc">{children}</span>}
    </span>
  );
}
