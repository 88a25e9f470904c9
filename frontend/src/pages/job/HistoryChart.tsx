import { useNavigate } from "@tanstack/react-router";
import type { JobItem, Run } from "@/api/schema.gen";
import { Chart, GridLines } from "@/components/Chart";
import { formatDuration } from "@/lib/duration";
import { relative, useFormat, usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import type { Mark } from "@/lib/marks";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import { type AxisLabel, apart, durationStep, ticks } from "@/lib/scale";
import { quantile } from "@/lib/stats";
import { durationOf, isAbsent, isFailure, tones } from "@/lib/status";
import { useHeld } from "@/shell/useHeld";
import { useMarkText } from "./Marks";

interface HistoryChartProps {
  item: JobItem;
  /** The newest first. */
  runs: Run[];
  p95: number | undefined;
  timeout: number | undefined;
  /** Changes between the runs. */
  marks: Mark[];
}

/** Past and future on one axis: the last runs by duration, then a line for now, then the plan, hollow. */
export function HistoryChart({ item, runs, p95, timeout, marks }: HistoryChartProps) {
  const { t, f } = usePageWords();
  const navigate = useNavigate();
  const now = useNow();
  const held = useHeld();
  const past = [...runs].reverse();
  const fires = item.next_fires.filter((x) => !x.skipped);
  const slots = Math.max(past.length + fires.length, 24);
  const durations = past.map((r) => durationOf(r, now) ?? 0);
  const longest = Math.max(quantile(durations, 1) ?? 1, 1);
  const limit = timeout !== undefined && timeout <= longest * 2.5 ? timeout : undefined;
  const unit = durationStep(Math.max(longest, limit ?? 0), 4);
  const lines = ticks(Math.max(longest, limit ?? 0), unit);
  const top = lines.at(-1) ?? 1;
  const failed = past.filter((r) => isFailure(r.status)).length;
  const usual =
    quantile(
      durations.filter((d) => d > 0),
      0.5,
    ) ?? top / 3;

  const opens = (i: number) => {
    const run = past[i];
    return run && (() => void navigate({ to: "/runs/$runId", params: { runId: run.run_id } }));
  };
  const labelOf = (at: string, x: number, anchor: AxisLabel["anchor"]): AxisLabel => ({
    at: Date.parse(at),
    x,
    text: dateIn(f.zone, at) === dateIn(f.zone, now) ? f.minute(at) : f.short(at, now),
    anchor,
  });
  return (
    <Chart
      label={t.job.chartLabel(past.length, failed, fires.length)}
      height={190}
      left={50}
      top={14}
      count={past.length + fires.length}
      find={(share) => {
        const i = Math.floor(share * slots);
        return i >= 0 && i < past.length + fires.length ? i : undefined;
      }}
      open={opens}
      card={(i, plot) => {
        const run = past[i];
        const fire = fires[i - past.length];
        const changes = marks.filter((m) => m.before === i);
        return {
          x: plot.left + ((i + 0.5) / slots) * plot.width,
          text: run ? (
            <PastRun run={run} ran={durations[i]} marks={changes} />
          ) : (
            fire && <Planned due={fire.due} off={held(fire.due)} marks={changes} />
          ),
        };
      }}
    >
      {(plot, over) => {
        const inner = plot.base - plot.top;
        const step = plot.width / slots;
        const bar = Math.max(1.5, Math.min(14, step * 0.74));
        const x = (i: number) => plot.left + (i + 0.5) * step;
        const y = (ms: number) => plot.base - (Math.min(ms, top) / top) * inner;
        const nowX = plot.left + past.length * step;
        const every = Math.ceil(slots / Math.max(1, Math.floor(plot.width / 110)));
        const foot: AxisLabel = { at: now, x: nowX, text: t.time.now, anchor: "middle" };
        const ends = fires.length > 2 ? fires.at(-1)?.due : undefined;
        const labels = apart(
          [
            ...(ends === undefined ? [] : [labelOf(ends, plot.right, "end")]),
            ...past.flatMap((run, i) =>
              i % every === 0 ? [labelOf(run.fire_time, x(i) - bar / 2, "start")] : [],
            ),
          ],
          [foot],
        );
        return (
          <>
            {fires.length > 0 && (
              <rect
                x={nowX}
                y={plot.top}
                width={Math.max(0, plot.right - nowX)}
                height={inner}
                className="future"
              />
            )}
            <GridLines plot={plot} values={lines} y={y} write={(v) => (v === 0 ? "0" : formatDuration(v))} />
            {over !== undefined && (
              <rect x={x(over) - step / 2} y={plot.top} width={step} height={inner} className="hoverband" />
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
                    y={plot.base - h}
                    width={bar}
                    height={h}
                    rx={Math.min(2, bar / 3)}
                    className={`m-${tones[run.status]}${run.status === "running" ? " pulse" : ""}`}
                  />
                  {byHand && <circle cx={x(i)} cy={plot.base - h - 6} r={2.6} className="ring" />}
                </g>
              );
            })}
            {fires.map((fire, i) => (
              <rect
                key={fire.fire_time}
                x={x(past.length + i) - bar / 2}
                y={y(usual)}
                width={bar}
                height={plot.base - y(usual)}
                rx={Math.min(2, bar / 3)}
                className={held(fire.due) ? "hollow off" : "hollow"}
              />
            ))}
            {[...new Set(marks.map((m) => m.before))].map((i) => {
              const at = plot.left + i * step;
              return (
                <g key={i} className="mark">
                  <line x1={at} x2={at} y1={plot.top - 6} y2={plot.base} />
                  <path d={`M${at - 4} ${plot.top - 10}h8l-4 6z`} />
                </g>
              );
            })}
            {p95 !== undefined && past.length > 4 && (
              <>
                <line x1={plot.left} x2={nowX} y1={y(p95)} y2={y(p95)} className="p95" />
                <text x={plot.left + 4} y={y(p95) - 4} className="axis halo">
                  p95
                </text>
              </>
            )}
            {limit !== undefined && (
              <>
                <line x1={plot.left} x2={plot.right} y1={y(limit)} y2={y(limit)} className="limit" />
                <text x={plot.right - 2} y={y(limit) - 4} textAnchor="end" className="axis time halo">
                  {t.job.timeout} {formatDuration(limit)}
                </text>
              </>
            )}
            {labels.map((l) => (
              <text key={l.x} x={l.x} y={plot.foot} textAnchor={l.anchor} className="axis">
                {l.text}
              </text>
            ))}
            <line x1={nowX} x2={nowX} y1={4} y2={plot.base} className="nowline" />
            <text x={nowX} y={plot.foot} textAnchor={foot.anchor} className="axis now">
              {foot.text}
            </text>
          </>
        );
      }}
    </Chart>
  );
}

/** What became of a run, in a line or two. */
function PastRun({ run, ran, marks }: { run: Run; ran: number | undefined; marks: Mark[] }) {
  const { t, f } = usePageWords();
  const now = useNow();
  return (
    <>
      <div>
        <i className={`b-${tones[run.status]}`} /> {shortId(run.run_id)} · {t.status[run.status]}
      </div>
      <div>
        <span className="k">{t.run.fireTime}</span> {f.short(run.fire_time, now)}
        {ran ? (
          <>
            {" "}
            <span className="k">{t.run.phases.ran}</span> {formatDuration(ran)}
          </>
        ) : null}
        {run.attempt > 1 && <span className="k"> {t.runlist.attempt(run.attempt)}</span>}
      </div>
      <Changes marks={marks} />
    </>
  );
}

function Planned({ due, off, marks }: { due: string; off: boolean; marks: Mark[] }) {
  const { t, f } = usePageWords();
  const now = useNow();
  return (
    <>
      {t.job.planned} {f.short(due, now)} <span className="k">{relative(due, now, t)}</span>
      {off && <div>{t.pause.wouldSkip}</div>}
      <Changes marks={marks} />
    </>
  );
}

/** What was changed just before. */
function Changes({ marks }: { marks: Mark[] }) {
  const textOf = useMarkText();
  const f = useFormat();
  const now = useNow();
  return marks.map((mark) => (
    <div key={mark.key}>
      <span className="k">{f.short(mark.at, now)}</span> {textOf(mark)}
    </div>
  ));
}
