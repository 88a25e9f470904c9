import { type ReactNode, useRef, useState } from "react";
import { offsetMinutes, useWords } from "@/lib/format";
import { type AxisLabel, timeLabels } from "@/lib/scale";
import { HoverCard } from "./HoverCard";
import { useWidth } from "./useSize";

/** The first and the last of the marks that are chosen together. */
export type Stretch = readonly [first: number, last: number];

/** Where the marks of a chart are drawn, in pixels of its svg. */
export interface Plot {
  left: number;
  right: number;
  top: number;
  /** Where the value 0 is. */
  base: number;
  width: number;
  /** Where what stands below the marks is written. */
  foot: number;
}

interface ChartProps {
  /** The chart in a sentence, for those who do not see it. */
  label: string;
  height: number;
  /** The room for the values of the axis. */
  left: number;
  top?: number;
  /** How many marks one can point at. */
  count: number;
  /** Which mark is at a place, from 0 at the left end of the plot to 1 at its right. */
  find(share: number): number | undefined;
  /** What Enter or a click on a mark does; undefined where it does nothing. */
  open?(mark: number): (() => void) | undefined;
  /** What becomes of marks that are chosen together. Without it, none can be. */
  onStretch?: ((marks: Stretch) => void) | undefined;
  /** What is said of a mark while one points at it, or of those that are being chosen, and beside which x. */
  card(mark: number, plot: Plot, chosen: Stretch | undefined): { x: number; text: ReactNode } | undefined;
  /** The marks. */
  children(plot: Plot, over: number | undefined, chosen: Stretch | undefined): ReactNode;
}

/** A pointer that has moved by fewer pixels than this still clicks. */
const still = 4;

/**
 * A chart as wide as its place. The pointer and the arrow keys lead to each of its marks;
 * dragging, or the arrow keys with Shift and then Enter, chooses several together.
 */
export function Chart({
  label,
  height,
  left,
  top = 12,
  count,
  find,
  open,
  onStretch,
  card,
  children,
}: ChartProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<number>();
  // The mark from which on marks are chosen, up to the one that is pointed at.
  const [anchor, setAnchor] = useState<number>();
  const drag = useRef<{ x: number; mark: number | undefined; moved: boolean }>(undefined);
  const right = width - 14;
  const plot: Plot = {
    left,
    right,
    top,
    base: height - 24,
    width: Math.max(0, right - left),
    foot: height - 6,
  };
  const shareAt = (e: React.MouseEvent) =>
    (e.clientX - e.currentTarget.getBoundingClientRect().left - left) / plot.width;
  const at = (e: React.MouseEvent) => find(shareAt(e));
  // Beyond the ends of the plot, what is dragged stays at its end.
  const reached = (e: React.MouseEvent) => find(Math.max(0, Math.min(1 - 1e-9, shareAt(e))));
  const step = (by: number, choosing: boolean) => {
    const next = over === undefined ? count - 1 : Math.max(0, Math.min(count - 1, over + by));
    setOver(next);
    setAnchor(choosing ? (anchor ?? over ?? next) : undefined);
  };
  const isThere = over !== undefined && over < count;
  const chosen = isThere && anchor !== undefined ? between(anchor, over) : undefined;
  const leave = () => {
    setOver(undefined);
    setAnchor(undefined);
  };
  const take = (marks: Stretch) => {
    setAnchor(undefined);
    onStretch?.(marks);
  };
  const opening = over === undefined ? undefined : open?.(over);
  const shown = isThere ? card(over, plot, chosen) : undefined;
  return (
    <div
      className="chart"
      ref={box}
      onKeyDown={(e) => {
        const choosing = e.shiftKey && onStretch !== undefined;
        if (e.key === "ArrowRight") step(1, choosing);
        else if (e.key === "ArrowLeft") step(-1, choosing);
        else if (e.key === "Enter" && chosen) take(chosen);
        else if (e.key === "Enter" && opening) opening();
        else if (e.key === "Escape" && chosen) setAnchor(undefined);
        else return;
        e.preventDefault();
      }}
    >
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          tabIndex={0}
          aria-label={label}
          aria-keyshortcuts={onStretch && "Shift+ArrowLeft Shift+ArrowRight"}
          className={[opening && "click", onStretch && "stretches"].filter(Boolean).join(" ") || undefined}
          onPointerDown={(e) => {
            drag.current =
              onStretch && e.button === 0 ? { x: e.clientX, mark: at(e), moved: false } : undefined;
          }}
          onPointerMove={(e) => {
            const was = drag.current;
            if (was?.mark !== undefined && !was.moved && Math.abs(e.clientX - was.x) > still) {
              was.moved = true;
              e.currentTarget.setPointerCapture(e.pointerId);
              setAnchor(was.mark);
            }
            setOver(was?.moved ? reached(e) : at(e));
          }}
          onPointerUp={(e) => {
            const was = drag.current;
            const last = reached(e);
            if (was?.moved && was.mark !== undefined && last !== undefined) take(between(was.mark, last));
          }}
          onPointerCancel={() => {
            drag.current = undefined;
            leave();
          }}
          onPointerLeave={leave}
          onBlur={leave}
          onClick={(e) => {
            const mark = at(e);
            // The end of dragging is no click.
            if (mark !== undefined && !drag.current?.moved) open?.(mark)?.();
            drag.current = undefined;
          }}
        >
          {children(plot, over, chosen)}
        </svg>
      )}
      {shown && (
        <HoverCard x={shown.x} y={6} width={width}>
          {shown.text}
        </HoverCard>
      )}
    </div>
  );
}

function between(a: number, b: number): Stretch {
  return [Math.min(a, b), Math.max(a, b)];
}

interface GridLinesProps {
  plot: Plot;
  /** Round values of the axis, from 0 up; the last is the top. */
  values: number[];
  y(value: number): number;
  write(value: number): string;
}

/** The lines of the axis of values, each with its value. */
export function GridLines({ plot, values, y, write }: GridLinesProps) {
  return values.map((v) => (
    <g key={v}>
      <line x1={plot.left} x2={plot.right} y1={y(v)} y2={y(v)} className="gridline" />
      <text x={plot.left - 8} y={y(v) + 4} textAnchor="end" className="axis">
        {write(v)}
      </text>
    </g>
  ));
}

interface TimeAxisProps {
  plot: Plot;
  from: number;
  to: number;
  /** Gets a line of its own, if it is within. */
  now?: number;
}

/** The instants along the foot of a chart, round ones of the zone in use. */
export function TimeAxis({ plot, from, to, now }: TimeAxisProps) {
  const { t, f } = useWords();
  const at = now ?? to;
  const x = plot.left + ((at - from) / (to - from)) * plot.width;
  const mark: AxisLabel | undefined =
    now !== undefined && now >= from && now <= to
      ? { at, x, text: t.time.now, anchor: x > plot.right - 20 ? "end" : "middle" }
      : undefined;
  const axis = { from, to, left: plot.left, width: plot.width };
  const { labels } = timeLabels(axis, offsetMinutes(f.zone, at) * 60_000, f, mark);
  return (
    <>
      {labels.map((l) => (
        <text key={l.at} x={l.x} y={plot.foot} textAnchor={l.anchor} className="axis">
          {l.text}
        </text>
      ))}
      {mark && (
        <>
          <line x1={x} x2={x} y1={4} y2={plot.base} className="nowline" />
          <text x={x} y={plot.foot} textAnchor={mark.anchor} className="axis now">
            {mark.text}
          </text>
        </>
      )}
    </>
  );
}
