import { useFormat } from "@/lib/format";
import { Chart, GridLines, TimeAxis } from "./Chart";

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
  tone: "bad" | "warn" | "accent";
  /** A value to compare the line with, such as what there is room for. */
  level?: { value: number; text: string } | undefined;
  write(value: number): string;
  height?: number;
}

/** One value over time. Arrow keys and the pointer show each point's own. */
export function LineChart({
  points,
  from,
  to,
  label,
  lines,
  tone,
  level,
  write,
  height = 190,
}: LineChartProps) {
  const f = useFormat();
  const top = Math.max(lines.at(-1) ?? 1, Number.MIN_VALUE);
  const span = to - from || 1;
  const days = span > 36 * 3600e3;
  const known = points.filter((p): p is { at: number; value: number } => p.value !== undefined);
  return (
    <Chart
      label={label}
      height={height}
      left={62}
      count={points.length}
      find={(share) => nearest(points, from + share * span)}
      card={(i, plot) => {
        const p = points[i];
        return (
          p && {
            x: plot.left + ((p.at - from) / span) * plot.width,
            text: (
              <>
                <div>
                  {days && `${f.day(p.at)} `}
                  {f.minute(p.at)}
                </div>
                <b className="num">{p.value === undefined ? "—" : write(p.value)}</b>
              </>
            ),
          }
        );
      }}
    >
      {(plot, over) => {
        const x = (at: number) => plot.left + ((at - from) / span) * plot.width;
        const y = (v: number) => plot.base - (v / top) * (plot.base - plot.top);
        const shown = over === undefined ? undefined : points[over];
        return (
          <>
            <GridLines plot={plot} values={lines} y={y} write={write} />
            {level && (
              <>
                <line
                  x1={plot.left}
                  x2={plot.right}
                  y1={y(level.value)}
                  y2={y(level.value)}
                  className="levelline"
                />
                <text x={plot.right} y={y(level.value) + 12} textAnchor="end" className="axis">
                  {level.text}
                </text>
              </>
            )}
            <path d={path(points, x, y)} className={`trend s-${tone}`} />
            {known.length <= 40 &&
              known.map((p) => (
                <circle key={p.at} cx={x(p.at)} cy={y(p.value)} r={2} className={`trenddot s-${tone}`} />
              ))}
            {shown?.value !== undefined && (
              <>
                <line x1={x(shown.at)} x2={x(shown.at)} y1={plot.top} y2={plot.base} className="gridline" />
                <circle cx={x(shown.at)} cy={y(shown.value)} r={3.5} className={`trenddot s-${tone}`} />
              </>
            )}
            <TimeAxis plot={plot} from={from} to={from + span} />
          </>
        );
      }}
    </Chart>
  );
}

/** The point nearest to an instant, by its place among them. */
function nearest(points: Point[], at: number): number | undefined {
  let best: number | undefined;
  for (const [i, p] of points.entries())
    if (best === undefined || Math.abs(p.at - at) < Math.abs((points[best]?.at ?? 0) - at)) best = i;
  return best;
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
