import { type ReactNode, useState } from "react";
import { offsetMinutes, useWords } from "@/lib/format";
import { type AxisLabel, timeLabels } from "@/lib/scale";
import { HoverCard } from "./HoverCard";
import { useWidth } from "./useSize";

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
  /** What is said of a mark while one points at it, and beside which x. */
  card(mark: number, plot: Plot): { x: number; text: ReactNode } | undefined;
  /** The marks. */
  children(plot: Plot, over: number | undefined): ReactNode;
}

/** A chart as wide as its place. The pointer and the arrow keys lead to each of its marks. */
export function Chart({ label, height, left, top = 12, count, find, open, card, children }: ChartProps) {
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<number>();
  const right = width - 14;
  const plot: Plot = {
    left,
    right,
    top,
    base: height - 24,
    width: Math.max(0, right - left),
    foot: height - 6,
  };
  const at = (e: React.MouseEvent) =>
    find((e.clientX - e.currentTarget.getBoundingClientRect().left - left) / plot.width);
  const step = (by: number) =>
    setOver((was) => (was === undefined ? count - 1 : Math.max(0, Math.min(count - 1, was + by))));
  const opening = over === undefined ? undefined : open?.(over);
  const shown = over === undefined || over >= count ? undefined : card(over, plot);
  return (
    <div
      className="chart"
      ref={box}
      onKeyDown={(e) => {
        if (e.key === "ArrowRight") step(1);
        else if (e.key === "ArrowLeft") step(-1);
        else if (e.key === "Enter" && opening) opening();
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
          className={opening ? "click" : undefined}
          onPointerMove={(e) => setOver(at(e))}
          onPointerLeave={() => setOver(undefined)}
          onBlur={() => setOver(undefined)}
          onClick={(e) => {
            const mark = at(e);
            if (mark !== undefined) open?.(mark)?.();
          }}
        >
          {children(plot, over)}
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
