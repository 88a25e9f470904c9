import {
  Boxes,
  FileCode2,
  Globe,
  Hourglass,
  Layers,
  type LucideIcon,
  PhoneOutgoing,
  SquareCode,
  SquareTerminal,
  Webhook,
} from "lucide-react";
import { memo } from "react";
import { usePageT } from "@/i18n";
import type { Heat } from "@/lib/graph/heat";
import type { StepState as State } from "@/lib/graph/steps";
import { type StepChange, stepTones } from "@/lib/graph/steps";
import { StepState } from "./StepState";

const icons: Record<string, LucideIcon> = {
  handler: Boxes,
  shell: SquareTerminal,
  command: SquareCode,
  http: Globe,
  script: FileCode2,
  call: PhoneOutgoing,
  wait: Hourglass,
};

/** The kind of a step's task, as an icon. */
export function StepIcon({ kind, many }: { kind: string; many?: boolean }) {
  const Icon = many ? Layers : (icons[kind] ?? Webhook);
  return (
    <span className="ico task">
      <Icon size={14} aria-hidden />
    </span>
  );
}

export interface BoxProps {
  /** The id of its element. */
  id: string;
  name: string;
  kind: string;
  /** How many steps it stands for. */
  many: number;
  label: string;
  state: State | undefined;
  /** Of several steps, what became of how many. */
  tally: string | undefined;
  /** What it waits for, in the place of the word for its state. */
  awaits: string | undefined;
  /** A line below the name where there is no state. */
  detail: string | undefined;
  time: string | undefined;
  attempt: number | undefined;
  isFinally: boolean;
  mayFail: boolean;
  wrong: boolean;
  /** What another version has made of it. */
  change: StepChange | undefined;
  /** How often it fails, where no state is shown. */
  heat: Heat | undefined;
  chosen: boolean;
  active: boolean;
  dimmed: boolean;
  /** Too small to be read: a patch of colour. */
  plain: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
  at: number;
  total: number;
}

/** One box of a graph. React draws it again only if its properties have changed. */
export const GraphBox = memo(function GraphBox(p: BoxProps) {
  const t = usePageT();
  const classes = [
    "gbox",
    p.plain && "tiny",
    p.many > 1 && "pile",
    p.state && `t-${stepTones[p.state]}`,
    p.state === "skipped" && "skip",
    p.wrong && "wrong",
    p.change && `is-${p.change}`,
    p.heat && `h-${p.heat}`,
    p.chosen && "chosen",
    p.active && "active",
    p.dimmed && "dimmed",
  ];
  return (
    <div
      id={p.id}
      role="treeitem"
      aria-label={p.plain ? p.label : undefined}
      aria-selected={p.chosen}
      aria-level={1}
      aria-posinset={p.at}
      aria-setsize={p.total}
      className={classes.filter(Boolean).join(" ")}
      style={{ transform: `translate(${p.x}px, ${p.y}px)`, width: p.width, height: p.height }}
    >
      {p.plain ? (
        p.name
      ) : (
        <>
          <span className="sr">{p.label}</span>
          <StepIcon kind={p.kind} many={p.many > 1} />
          <span className="gtext" aria-hidden>
            <span className="gname">
              <b className="trunc" dir="auto">
                {p.name}
              </b>
              {p.many > 1 && <span className="num">× {p.many}</span>}
              {p.isFinally && <span className="gtag">{t.steps.finally}</span>}
              {p.mayFail && <span className="gtag">{t.steps.mayFail}</span>}
            </span>
            <span className="gstate">
              {p.state ? (
                <StepState state={p.state}>{p.awaits}</StepState>
              ) : (
                <span className="mut trunc">{p.detail}</span>
              )}
              {p.tally && <span className="mut trunc">{p.tally}</span>}
              {p.attempt !== undefined && p.attempt > 1 && <span className="mut num">×{p.attempt}</span>}
              {p.time && <span className="right mut num">{p.time}</span>}
            </span>
          </span>
        </>
      )}
    </div>
  );
});
