import { useState } from "react";
import { useWords } from "@/lib/format";
import { countStep, ticks } from "@/lib/scale";
import { HoverCard } from "./HoverCard";
import { useWidth } from "./useSize";

export interface Bar {
  from: number;
  to: number;
  ok: number;
  bad: number;
  other: number;
  planned: number;
}

interface StackChartProps {
  bars: Bar[];
  now: number;
  label: string;
  height?: number;
  /** A bar was chosen. */
  onOpen?(bar: Bar): void;
}

const margin = { top: 12, right: 14, bottom: 24, left: 46 };

/** Fires by their fate over time: success pale, failure vivid on top, and beyond now the plan, hatched. */
export function StackChart({ bars, now, label, height = 200, onOpen }: StackChartProps) {
  const { t, f } = useWords();
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<number>();
  const plot = Math.max(0, width - margin.left - margin.right);
  const inner = height - margin.top - margin.bottom;
  const most = Math.max(1, ...bars.map((b) => Math.max(b.ok + b.bad + b.other, b.planned)));
  const lines = ticks(most, countStep(most, 4));
  const top = lines.at(-1) ?? most;
  const first = bars[0]?.from ?? 0;
  const span = (bars.at(-1)?.to ?? 1) - first;
  const x = (at: number) => margin.left + ((at - first) / span) * plot;
  const h = (n: number) => (n / top) * inner;
  const base = margin.top + inner;
  const shown = over === undefined ? undefined : bars[over];
  const day = span > 36 * 3600e3;
  const name = (at: number) => (day ? f.day(at) : f.minute(at));
  const labels = Math.max(2, Math.min(7, Math.floor(plot / 110)));

  const barAt = (clientX: number, el: Element) => {
    const at = first + ((clientX - el.getBoundingClientRect().left - margin.left) / plot) * span;
    const i = bars.findIndex((b) => at >= b.from && at < b.to);
    return i < 0 ? undefined : i;
  };
  const step = (by: number) =>
    setOver((was) => Math.max(0, Math.min(bars.length - 1, (was ?? bars.length - 1 - by) + by)));
  return (
    <div
      className="chart"
      ref={box}
      onKeyDown={(e) => {
        if (e.key === "ArrowRight") step(1);
        else if (e.key === "ArrowLeft") step(-1);
        else if (e.key === "Enter" && shown) onOpen?.(shown);
        else return;
        e.preventDefault();
      }}
    >
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          tabIndex={onOpen ? 0 : undefined}
          aria-label={label}
          className={onOpen ? "click" : undefined}
          onPointerMove={(e) => setOver(barAt(e.clientX, e.currentTarget))}
          onPointerLeave={() => setOver(undefined)}
          onBlur={() => setOver(undefined)}
          onClick={(e) => {
            const i = barAt(e.clientX, e.currentTarget);
            const bar = i === undefined ? undefined : bars[i];
            if (bar && bar.from < now) onOpen?.(bar);
          }}
        >
          <defs>
            <pattern
              id="hatch"
              width="5"
              height="5"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect width="5" height="5" className="hatch-ground" />
              <line x1="0" y1="0" x2="0" y2="5" className="hatch-line" />
            </pattern>
          </defs>
          {first + span > now && (
            <rect
              x={x(now)}
              y={margin.top}
              width={Math.max(0, x(first + span) - x(now))}
              height={inner}
              className="future"
            />
          )}
          {lines.map((v) => (
            <g key={v}>
              <line
                x1={margin.left}
                x2={width - margin.right}
                y1={base - h(v)}
                y2={base - h(v)}
                className="gridline"
              />
              <text x={margin.left - 8} y={base - h(v) + 4} textAnchor="end" className="axis">
                {f.number(v)}
              </text>
            </g>
          ))}
          {shown && (
            <rect
              x={x(shown.from)}
              y={margin.top}
              width={x(shown.to) - x(shown.from)}
              height={inner}
              className="hoverband"
            />
          )}
          {bars.map((b) => {
            const w = Math.max(1, x(b.to) - x(b.from));
            const bw = Math.max(1, w * 0.78);
            const bx = x(b.from) + (w - bw) / 2;
            const r = Math.min(1.5, bw / 3);
            const ok = h(b.ok);
            const other = h(b.other);
            const bad = b.bad > 0 ? Math.max(2, h(b.bad)) : 0;
            return (
              <g key={b.from}>
                {b.planned > 0 && (
                  <rect
                    x={bx}
                    y={base - h(b.planned)}
                    width={bw}
                    height={h(b.planned)}
                    rx={r}
                    className="hatched"
                  />
                )}
                {ok > 0 && <rect x={bx} y={base - ok} width={bw} height={ok} rx={r} className="m-ok" />}
                {other > 0 && (
                  <rect x={bx} y={base - ok - other} width={bw} height={other} rx={r} className="m-idle" />
                )}
                {bad > 0 && (
                  <rect x={bx} y={base - ok - other - bad} width={bw} height={bad} rx={r} className="m-bad" />
                )}
              </g>
            );
          })}
          {Array.from(
            { length: labels },
            (_, i) => first + ((Math.min(now, first + span) - first) * i) / labels,
          ).map((at, i) => (
            <text
              key={at}
              x={x(at)}
              y={height - 6}
              textAnchor={i === 0 ? "start" : "middle"}
              className="axis"
            >
              {name(at)}
            </text>
          ))}
          {now >= first && now <= first + span && (
            <>
              <line x1={x(now)} x2={x(now)} y1={4} y2={base} className="nowline" />
              <text
                x={x(now)}
                y={height - 6}
                textAnchor={now > first + span * 0.97 ? "end" : "middle"}
                className="axis now"
              >
                {t.time.now}
              </text>
            </>
          )}
          {first + span - now > span * 0.06 && plot > 420 && (
            <text x={width - margin.right} y={height - 6} textAnchor="end" className="axis">
              {name(first + span)}
            </text>
          )}
        </svg>
      )}
      {shown && (
        <HoverCard x={x((shown.from + shown.to) / 2)} y={6} width={width}>
          <div>
            {day && `${f.day(shown.from)} `}
            {f.minute(shown.from)} – {f.minute(shown.to)}
          </div>
          {shown.from < now ? (
            <>
              <div>
                <i className="b-ok" />
                {t.status.succeeded} <b className="num">{f.number(shown.ok)}</b>
              </div>
              {shown.bad > 0 && (
                <div>
                  <i className="b-bad" />
                  {t.status.failed} <b className="num">{f.number(shown.bad)}</b>
                </div>
              )}
              {shown.other > 0 && (
                <div>
                  <i className="b-idle" />
                  {t.overview.other} <b className="num">{f.number(shown.other)}</b>
                </div>
              )}
            </>
          ) : (
            <div>
              {t.overview.scheduled} <b className="num">{f.number(shown.planned)}</b>
            </div>
          )}
        </HoverCard>
      )}
    </div>
  );
}
