import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { JobItem, Run } from "@/api/schema.gen";
import { HoverCard } from "@/components/HoverCard";
import { useWidth } from "@/components/useSize";
import { formatDuration } from "@/lib/duration";
import { relative, useWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { durationStep, ticks } from "@/lib/scale";
import { quantile } from "@/lib/stats";
import { durationOf, isAbsent, isFailure, tones } from "@/lib/status";

const height = 190;
const margin = { top: 14, right: 14, bottom: 24, left: 50 };

interface HistoryChartProps {
  item: JobItem;
  /** The newest first. */
  runs: Run[];
  p95: number | undefined;
  timeout: number | undefined;
}

/** Past and future on one axis: the last runs by duration, then a line for now, then the plan, hollow. */
export function HistoryChart({ item, runs, p95, timeout }: HistoryChartProps) {
  const { t, f } = useWords();
  const navigate = useNavigate();
  const now = useNow();
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<number>();
  const past = [...runs].reverse();
  const fires = item.next_fires.filter((x) => !x.skipped);
  const slots = Math.max(past.length + fires.length, 24);
  const plot = Math.max(0, width - margin.left - margin.right);
  const step = plot / slots;
  const bar = Math.max(1.5, Math.min(14, step * 0.74));
  const durations = past.map((r) => durationOf(r, now) ?? 0);
  const longest = Math.max(quantile(durations, 1) ?? 1, 1);
  const limit = timeout !== undefined && timeout <= longest * 2.5 ? timeout : undefined;
  const unit = durationStep(Math.max(longest, limit ?? 0), 4);
  const lines = ticks(Math.max(longest, limit ?? 0), unit);
  const top = lines.at(-1) ?? 1;
  const inner = height - margin.top - margin.bottom;
  const y = (ms: number) => margin.top + inner - (Math.min(ms, top) / top) * inner;
  const x = (i: number) => margin.left + (i + 0.5) * step;
  const nowX = margin.left + past.length * step;
  const failed = past.filter((r) => isFailure(r.status)).length;
  const labels = Math.max(1, Math.floor(plot / 110));
  const every = Math.ceil(slots / labels);
  const usual =
    quantile(
      durations.filter((d) => d > 0),
      0.5,
    ) ?? top / 3;

  const slotAt = (e: React.PointerEvent<SVGSVGElement>) => {
    const i = Math.floor((e.clientX - e.currentTarget.getBoundingClientRect().left - margin.left) / step);
    setOver(i >= 0 && i < past.length + fires.length ? i : undefined);
  };
  const hovered = over === undefined ? undefined : past[over];
  const planned = over === undefined ? undefined : fires[over - past.length];
  return (
    <div className="chart" ref={box}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={t.job.chartLabel(past.length, failed, fires.length)}
          onPointerMove={slotAt}
          onPointerLeave={() => setOver(undefined)}
          onClick={() => hovered && void navigate({ to: "/runs/$runId", params: { runId: hovered.run_id } })}
          className={hovered ? "click" : undefined}
        >
          {fires.length > 0 && (
            <rect
              x={nowX}
              y={margin.top}
              width={Math.max(0, width - margin.right - nowX)}
              height={inner}
              className="future"
            />
          )}
          {lines.map((v) => (
            <g key={v}>
              <line x1={margin.left} x2={width - margin.right} y1={y(v)} y2={y(v)} className="gridline" />
              <text x={margin.left - 8} y={y(v) + 4} textAnchor="end" className="axis">
                {v === 0 ? "0" : formatDuration(v)}
              </text>
            </g>
          ))}
          {over !== undefined && (
            <rect x={x(over) - step / 2} y={margin.top} width={step} height={inner} className="hoverband" />
          )}
          {past.map((run, i) => {
            const d = durations[i] ?? 0;
            const h = isAbsent(run.status)
              ? 6
              : Math.max(isFailure(run.status) ? 5 : 2.5, (Math.min(d, top) / top) * inner);
            const byHand = run.cause === "manual" || run.cause === "api";
            return (
              <g key={`${run.run_id}.${run.attempt}`}>
                <rect
                  x={x(i) - bar / 2}
                  y={margin.top + inner - h}
                  width={bar}
                  height={h}
                  rx={Math.min(2, bar / 3)}
                  className={`m-${tones[run.status]}${run.status === "running" ? " pulse" : ""}`}
                />
                {byHand && <circle cx={x(i)} cy={margin.top + inner - h - 6} r={2.6} className="ring" />}
              </g>
            );
          })}
          {fires.map((fire, i) => (
            <rect
              key={fire.fire_time}
              x={x(past.length + i) - bar / 2}
              y={y(usual)}
              width={bar}
              height={margin.top + inner - y(usual)}
              rx={Math.min(2, bar / 3)}
              className="hollow"
            />
          ))}
          {p95 !== undefined && past.length > 4 && (
            <>
              <line x1={margin.left} x2={nowX} y1={y(p95)} y2={y(p95)} className="p95" />
              <text x={margin.left + 4} y={y(p95) - 4} className="axis halo">
                p95
              </text>
            </>
          )}
          {limit !== undefined && (
            <>
              <line
                x1={margin.left}
                x2={width - margin.right}
                y1={y(limit)}
                y2={y(limit)}
                className="limit"
              />
              <text x={width - margin.right - 2} y={y(limit) - 4} textAnchor="end" className="axis time halo">
                {t.job.timeout} {formatDuration(limit)}
              </text>
            </>
          )}
          {past.map(
            (run, i) =>
              i % every === 0 &&
              x(i) < nowX - 60 && (
                <text key={run.run_id} x={x(i) - bar / 2} y={height - 6} className="axis">
                  {f.minute(run.fire_time)}
                </text>
              ),
          )}
          <line x1={nowX} x2={nowX} y1={4} y2={margin.top + inner} className="nowline" />
          <text x={nowX} y={height - 6} textAnchor="middle" className="axis now">
            {t.time.now}
          </text>
          {fires.length > 2 && (
            <text x={width - margin.right} y={height - 6} textAnchor="end" className="axis">
              {f.minute(fires.at(-1)?.due ?? now)}
            </text>
          )}
        </svg>
      )}
      {over !== undefined && hovered && (
        <HoverCard x={x(over)} y={8} width={width}>
          <div>
            <i className={`b-${tones[hovered.status]}`} /> {shortId(hovered.run_id)} ·{" "}
            {t.status[hovered.status]}
          </div>
          <div>
            <span className="k">{t.run.fireTime}</span> {f.short(hovered.fire_time, now)}
            {durations[over] ? (
              <>
                {" "}
                <span className="k">{t.run.phases.ran}</span> {formatDuration(durations[over] ?? 0)}
              </>
            ) : null}
            {hovered.attempt > 1 && <span className="k"> {t.runs.attempt(hovered.attempt)}</span>}
          </div>
        </HoverCard>
      )}
      {over !== undefined && planned && (
        <HoverCard x={x(over)} y={8} width={width}>
          {t.job.planned} {f.short(planned.due, now)}{" "}
          <span className="k">{relative(planned.due, now, t)}</span>
        </HoverCard>
      )}
    </div>
  );
}
