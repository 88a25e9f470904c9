import { Chart, GridLines, TimeAxis } from "@/components/Chart";
import { useFormat } from "@/lib/format";
import { countStep, ticks } from "@/lib/scale";
import type { LevelBar } from "./levels";
import { useLogsT } from "./texts";

interface LevelChartProps {
  bars: LevelBar[];
  /** A bar with lines was chosen. */
  onOpen(bar: LevelBar): void;
}

/** When lines were printed: errors and warnings below, where they are seen however few they are. */
export function LevelChart({ bars, onOpen }: LevelChartProps) {
  const t = useLogsT();
  const f = useFormat();
  const [from, to] = [bars[0]?.from ?? 0, bars.at(-1)?.to ?? 1];
  const most = Math.max(1, ...bars.map((b) => b.error + b.warn + b.rest));
  const lines = ticks(most, countStep(most, 2));
  const top = lines.at(-1) ?? most;
  const sum = (of: "error" | "warn" | "rest") => bars.reduce((n, b) => n + b[of], 0);
  const [errors, warnings] = [sum("error"), sum("warn")];
  const seconds = to - from < 600_000;
  const write = (at: number) => (seconds ? f.time(at) : f.short(at, to));
  return (
    <Chart
      label={t.logs.chart(errors + warnings + sum("rest"), errors, warnings)}
      height={84}
      left={46}
      count={bars.length}
      find={(share) => (share < 0 || share >= 1 ? undefined : Math.floor(share * bars.length))}
      open={(i) => {
        const bar = bars[i];
        return bar && bar.first !== undefined ? () => onOpen(bar) : undefined;
      }}
      card={(i, plot) => {
        const bar = bars[i];
        if (!bar) return undefined;
        const parts = [
          ["b-bad", t.run.levels.error, bar.error],
          ["b-warn", t.run.levels.warn, bar.warn],
          ["b-idle", t.logs.others, bar.rest],
        ] as const;
        return {
          x: plot.left + ((i + 0.5) / bars.length) * plot.width,
          text: (
            <>
              <div>
                {write(bar.from)} – {write(bar.to)}
              </div>
              {parts.map(([look, means, n]) => (
                <div key={look}>
                  <i className={look} />
                  {means} <b className="num">{f.number(n)}</b>
                </div>
              ))}
            </>
          ),
        };
      }}
    >
      {(plot, over) => {
        const wide = plot.width / bars.length;
        const h = (n: number) => (n === 0 ? 0 : Math.max(2, (n / top) * (plot.base - plot.top)));
        return (
          <>
            <GridLines
              plot={plot}
              values={lines}
              y={(v) => plot.base - (v / top) * (plot.base - plot.top)}
              write={f.number}
            />
            {bars.map((bar, i) => {
              const x = plot.left + i * wide;
              let y = plot.base;
              return (
                <g key={bar.from}>
                  {over === i && (
                    <rect
                      x={x}
                      y={plot.top}
                      width={wide}
                      height={plot.base - plot.top}
                      className="hoverband"
                    />
                  )}
                  {(["error", "warn", "rest"] as const).map((level) => {
                    const height = h(bar[level]);
                    y -= height;
                    return (
                      height > 0 && (
                        <rect
                          key={level}
                          x={x + wide * 0.11}
                          y={y}
                          width={Math.max(1, wide * 0.78)}
                          height={height}
                          className={looks[level]}
                        />
                      )
                    );
                  })}
                </g>
              );
            })}
            <TimeAxis plot={plot} from={from} to={to} />
          </>
        );
      }}
    </Chart>
  );
}

const looks = { error: "m-bad", warn: "m-warn", rest: "m-idle" };
