import { Chart, GridLines, type Stretch, TimeAxis } from "@/components/Chart";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { isNarrowable } from "@/lib/ranges";
import { countStep, ticks } from "@/lib/scale";
import { type LevelBar, linesIn } from "./levels";

interface LevelChartProps {
  bars: LevelBar[];
  /** One of several bars was chosen that has lines, or may have. */
  onOpen(bar: Pick<LevelBar, "from" | "to">): void;
}

/** How many lines a search finds over time, by when their runs fired: errors and warnings below, where they are seen however few they are. */
export function LevelChart({ bars, onOpen }: LevelChartProps) {
  const t = usePageT();
  const f = useFormat();
  const { from, to: next } = bars[0] ?? { from: 0, to: 1 };
  const to = from + bars.length * (next - from); // the last bar may be cut short, and is drawn as wide as all
  const most = Math.max(1, ...bars.map((b) => linesIn([b])));
  const lines = ticks(most, countStep(most, 2));
  const top = lines.at(-1) ?? most;
  const sum = (of: "error" | "warn") => bars.reduce((n, b) => n + b[of], 0);
  const seconds = to - from < 600_000;
  const timeOf = ([first, last]: Stretch) => {
    const [a, b] = [bars[first], bars[last]];
    return a && b && { from: a.from, to: b.to };
  };
  const write = (at: number) => (seconds ? f.time(at) : f.short(at, to));
  return (
    <Chart
      label={t.logs.chart(linesIn(bars), sum("error"), sum("warn"))}
      height={84}
      left={46}
      count={bars.length}
      find={(share) => (share < 0 || share >= 1 ? undefined : Math.floor(share * bars.length))}
      open={(i) => {
        const bar = bars[i];
        return bar && isNarrowable(bars) && (!bar.counted || linesIn([bar]) > 0)
          ? () => onOpen(bar)
          : undefined;
      }}
      onStretch={(marks) => {
        const part = timeOf(marks);
        if (part && isNarrowable(bars)) onOpen(part);
      }}
      card={(i, plot, chosen = [i, i]) => {
        const part = timeOf(chosen);
        if (!part) return undefined;
        const told = bars.slice(chosen[0], chosen[1] + 1);
        const total = (of: "error" | "warn" | "rest") => told.reduce((n, b) => n + b[of], 0);
        const parts = [
          ["b-bad", t.run.levels.error, total("error")],
          ["b-warn", t.run.levels.warn, total("warn")],
          ["b-idle", t.logs.others, total("rest")],
        ] as const;
        return {
          x: plot.left + ((i + 0.5) / bars.length) * plot.width,
          text: (
            <>
              <div>
                {write(part.from)} – {write(part.to)}
              </div>
              {told.every((b) => b.counted)
                ? parts.map(([look, means, n]) => (
                    <div key={look}>
                      <i className={look} />
                      {means} <b className="num">{f.number(n)}</b>
                    </div>
                  ))
                : t.logs.uncounted}
            </>
          ),
        };
      }}
    >
      {(plot, over = -1, [first, last] = [over, over]) => {
        const wide = plot.width / bars.length;
        const uncounted = wide * bars.filter((b) => !b.counted).length;
        const h = (n: number) => (n === 0 ? 0 : Math.max(2, (n / top) * (plot.base - plot.top)));
        return (
          <>
            <rect
              x={plot.left}
              y={plot.top}
              width={uncounted}
              height={plot.base - plot.top}
              className="future"
            />
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
                  {i >= first && i <= last && (
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
