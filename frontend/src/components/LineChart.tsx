import { useState } from "react";
import { useFormat } from "@/lib/format";
import { HoverCard } from "./HoverCard";
import { useWidth } from "./useSize";

export interface Point {
  at: number;
  /** Undefined where nothing is known: the line is interrupted. */
  value: number | undefined;
}

interface LineChartProps {
  points: Point[];
  /** The range that the axis has. */
  from: number;
  to: number;
  label: string;
  /** Round values of the axis, from 0 up. */
  lines: number[];
  tone: "bad" | "accent";
  write(value: number): string;
  height?: number;
}

const margin = { top: 10, right: 14, bottom: 24, left: 62 };

/** One value over time. Arrow keys and the pointer show each point's own. */
export function LineChart({ points, from, to, label, lines, tone, write, height = 190 }: LineChartProps) {
  const f = useFormat();
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<number>();
  const plot = Math.max(0, width - margin.left - margin.right);
  const inner = height - margin.top - margin.bottom;
  const top = Math.max(lines.at(-1) ?? 1, Number.MIN_VALUE);
  const span = to - from || 1;
  const x = (at: number) => margin.left + ((at - from) / span) * plot;
  const y = (v: number) => margin.top + inner - (v / top) * inner;
  const days = span > 36 * 3600e3;
  const name = (at: number) => (days ? f.day(at) : f.minute(at));
  const shown = over === undefined ? undefined : points[over];
  const known = points.filter((p): p is { at: number; value: number } => p.value !== undefined);
  const labels = Math.max(2, Math.min(6, Math.floor(plot / 110)));
  const nearest = (clientX: number, el: Element) => {
    const at = from + ((clientX - el.getBoundingClientRect().left - margin.left) / plot) * span;
    let best = 0;
    for (const [i, p] of points.entries())
      if (Math.abs(p.at - at) < Math.abs((points[best]?.at ?? 0) - at)) best = i;
    return best;
  };
  const step = (by: number) =>
    setOver((was) => Math.max(0, Math.min(points.length - 1, (was ?? points.length - by) + by)));
  return (
    <div
      className="chart"
      ref={box}
      onKeyDown={(e) => {
        if (e.key === "ArrowRight") step(1);
        else if (e.key === "ArrowLeft") step(-1);
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
          onPointerMove={(e) => setOver(nearest(e.clientX, e.currentTarget))}
          onPointerLeave={() => setOver(undefined)}
          onBlur={() => setOver(undefined)}
        >
          {lines.map((v) => (
            <g key={v}>
              <line x1={margin.left} x2={width - margin.right} y1={y(v)} y2={y(v)} className="gridline" />
              <text x={margin.left - 8} y={y(v) + 4} textAnchor="end" className="axis">
                {write(v)}
              </text>
            </g>
          ))}
          <path d={path(points, x, y)} className={`trend s-${tone}`} />
          {known.length <= 40 &&
            known.map((p) => (
              <circle key={p.at} cx={x(p.at)} cy={y(p.value)} r={2} className={`trenddot s-${tone}`} />
            ))}
          {shown?.value !== undefined && (
            <>
              <line
                x1={x(shown.at)}
                x2={x(shown.at)}
                y1={margin.top}
                y2={margin.top + inner}
                className="gridline"
              />
              <circle cx={x(shown.at)} cy={y(shown.value)} r={3.5} className={`trenddot s-${tone}`} />
            </>
          )}
          {Array.from({ length: labels }, (_, i) => from + (span * i) / (labels - 1)).map((at, i) => (
            <text
              key={at}
              x={margin.left + (i / (labels - 1)) * plot}
              y={height - 6}
              textAnchor={i === 0 ? "start" : i === labels - 1 ? "end" : "middle"}
              className="axis"
            >
              {name(at)}
            </text>
          ))}
        </svg>
      )}
      {shown && (
        <HoverCard x={x(shown.at)} y={6} width={width}>
          <div>
            {days && `${f.day(shown.at)} `}
            {f.minute(shown.at)}
          </div>
          <b className="num">{shown.value === undefined ? "—" : write(shown.value)}</b>
        </HoverCard>
      )}
    </div>
  );
}

/** The line through what is known, begun anew after each gap. */
function path(points: Point[], x: (at: number) => number, y: (value: number) => number): string {
  let d = "";
  let drawn = false;
  for (const p of points) {
    if (p.value !== undefined) d += `${drawn ? "L" : "M"}${x(p.at).toFixed(1)} ${y(p.value).toFixed(1)}`;
    drawn = p.value !== undefined;
  }
  return d;
}
