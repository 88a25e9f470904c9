import { useWords } from "@/lib/format";
import { type Bar, isNarrowable } from "@/lib/ranges";
import { countStep, ticks } from "@/lib/scale";
import { Chart, GridLines, type Stretch, TimeAxis } from "./Chart";

interface StackChartProps {
  bars: Bar[];
  now: number;
  label: string;
  height: number;
  /** A bar of the past was chosen. */
  onOpen?: ((bar: Bar) => void) | undefined;
  /** Bars of the past that follow each other were chosen, where there is something to narrow to. */
  onNarrow?: ((from: number, to: number) => void) | undefined;
  /** What one can do with a bar of the past. */
  hint?: string;
}

/** Fires by their outcome over time: success pale, failure vivid on top, and beyond now the plan, hatched. */
export function StackChart({ bars, now, label, height, onOpen, onNarrow, hint }: StackChartProps) {
  const { t, f } = useWords();
  const most = Math.max(1, ...bars.map((b) => Math.max(b.ok + b.bad + b.other, b.planned)));
  const lines = ticks(most, countStep(most, 4));
  const top = lines.at(-1) ?? most;
  const first = bars[0]?.from ?? 0;
  const span = (bars.at(-1)?.to ?? 1) - first;
  const last = first + span;
  const day = span > 36 * 3600e3;
  const write = (at: number) =>
    `${day ? `${f.day(at)} ` : ""}${(bars[0]?.to ?? first) - first < 60e3 ? f.time(at) : f.minute(at)}`;
  const pastOf = ([a, b]: Stretch) => bars.slice(a, b + 1).filter((bar) => bar.from < now);
  return (
    <Chart
      label={label}
      height={height}
      left={46}
      count={bars.length}
      find={(share) => {
        const at = first + share * span;
        const i = bars.findIndex((b) => at >= b.from && at < b.to);
        return i < 0 ? undefined : i;
      }}
      open={(i) => {
        const bar = bars[i];
        return onOpen && bar && bar.from < now ? () => onOpen(bar) : undefined;
      }}
      onStretch={
        onNarrow && isNarrowable(bars)
          ? (marks) => {
              const all = sumOf(pastOf(marks));
              if (all) onNarrow(all.from, all.to);
            }
          : undefined
      }
      card={(i, plot, chosen) => {
        const bar = bars[i];
        const all = chosen && sumOf(pastOf(chosen));
        const told = all ?? bar;
        return (
          bar &&
          told && {
            x: plot.left + (((bar.from + bar.to) / 2 - first) / span) * plot.width,
            text: (
              <>
                <div>
                  {write(told.from)} – {write(told.to)}
                </div>
                <Counts of={told} past={told.from < now} />
                {told.from < now && (all || hint) && (
                  <div className="k">{all ? t.overview.narrowTo : hint}</div>
                )}
              </>
            ),
          }
        );
      }}
    >
      {(plot, over, chosen) => {
        const x = (at: number) => plot.left + ((at - first) / span) * plot.width;
        const h = (n: number) => (n / top) * (plot.base - plot.top);
        const shown = (chosen && sumOf(pastOf(chosen))) ?? (over === undefined ? undefined : bars[over]);
        return (
          <>
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
            {last > now && (
              <rect
                x={x(now)}
                y={plot.top}
                width={Math.max(0, x(last) - x(now))}
                height={plot.base - plot.top}
                className="future"
              />
            )}
            <GridLines plot={plot} values={lines} y={(v) => plot.base - h(v)} write={f.number} />
            {shown && (
              <rect
                x={x(shown.from)}
                y={plot.top}
                width={x(shown.to) - x(shown.from)}
                height={plot.base - plot.top}
                className="hoverband"
              />
            )}
            {bars.map((b) => (
              <Stack key={b.from} bar={b} x={x(b.from)} width={x(b.to) - x(b.from)} base={plot.base} h={h} />
            ))}
            <TimeAxis plot={plot} from={first} to={last} now={now} />
          </>
        );
      }}
    </Chart>
  );
}

/** What bars that follow each other are together. */
function sumOf(bars: Bar[]): Bar | undefined {
  return bars.reduce<Bar | undefined>(
    (sum, b) =>
      sum
        ? {
            from: sum.from,
            to: b.to,
            ok: sum.ok + b.ok,
            bad: sum.bad + b.bad,
            other: sum.other + b.other,
            planned: sum.planned + b.planned,
          }
        : b,
    undefined,
  );
}

interface StackProps {
  bar: Bar;
  x: number;
  width: number;
  base: number;
  h(n: number): number;
}

/** One bar. Failures are seen however few they are. */
function Stack({ bar, x, width, base, h }: StackProps) {
  const w = Math.max(1, Math.max(1, width) * 0.78);
  const at = x + (Math.max(1, width) - w) / 2;
  const ok = h(bar.ok);
  const other = h(bar.other);
  const bad = bar.bad > 0 ? Math.max(2, h(bar.bad)) : 0;
  const part = (below: number, height: number, look: string) =>
    height > 0 && (
      <rect
        x={at}
        y={base - below - height}
        width={w}
        height={height}
        rx={Math.min(1.5, w / 3)}
        className={look}
      />
    );
  return (
    <g>
      {part(0, h(bar.planned), bar.off ? "hatched off" : "hatched")}
      {part(0, ok, "m-ok")}
      {part(ok, other, "m-idle")}
      {part(ok + other, bad, "m-bad")}
    </g>
  );
}

/** How many fires a bar stands for, by their outcome. */
function Counts({ of, past }: { of: Bar; past: boolean }) {
  const { t, f } = useWords();
  if (!past) {
    return (
      <div>
        {t.overview.scheduled} <b className="num">{f.number(of.planned)}</b>
        {of.off && <div>{t.pause.wouldSkip}</div>}
      </div>
    );
  }
  const counts = [
    ["b-ok", t.status.succeeded, of.ok],
    ["b-bad", t.status.failed, of.bad],
    ["b-idle", t.overview.other, of.other],
  ] as const;
  return counts
    .filter(([look, , n]) => look === "b-ok" || n > 0)
    .map(([look, means, n]) => (
      <div key={look}>
        <i className={look} />
        {means} <b className="num">{f.number(n)}</b>
      </div>
    ));
}
