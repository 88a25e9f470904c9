import { usePageWords } from "@/lib/format";
import { densityOf, type Lane } from "@/lib/timeline";
import { useHeld } from "@/shell/useHeld";

interface DensityStripProps {
  lanes: Lane[];
  from: number;
  to: number;
  now: number;
  /** Where the plot begins, and how wide it is, in pixels. */
  left: number;
  width: number;
}

const high = 26;
/** How wide a bar is at least. */
const barWidth = 6;

/** How much begins at a time in all lanes together: what did up to now, and what will, hollow. */
export function DensityStrip({ lanes, from, to, now, left, width }: DensityStripProps) {
  const { t } = usePageWords();
  const parts = Math.max(1, Math.floor(width / barWidth));
  const held = useHeld();
  const all = densityOf(lanes, from, to, now, parts);
  const most = Math.max(1, ...all.map((d) => d.runs + d.fires));
  const total = (of: (d: (typeof all)[number]) => number) => all.reduce((n, d) => n + of(d), 0);
  const label = t.plan.density(
    total((d) => d.runs),
    total((d) => d.failed),
    total((d) => d.fires),
  );
  const scale = (n: number) => (n === 0 ? 0 : Math.max(2, (n / most) * (high - 4)));
  const each = width / parts;
  return (
    <svg className="density" width={left + width} height={high} role="img" aria-label={label}>
      {left > 150 && (
        <text x={left - 12} y={17} textAnchor="end" className="axis">
          {t.plan.together}
        </text>
      )}
      {all.map((d, i) => {
        const [runs, failed, fires] = [scale(d.runs), scale(d.failed), scale(d.fires)];
        const off = held(from + ((i + 0.5) / parts) * (to - from));
        const place = { x: left + i * each, width: Math.max(1, each - 1) };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part of the range is its number
          <g key={i}>
            {fires > 0 && (
              <rect
                {...place}
                y={high - runs - fires}
                height={fires}
                className={off ? "d-plan off" : "d-plan"}
              />
            )}
            {runs > 0 && <rect {...place} y={high - runs} height={runs} className="d-ran" />}
            {failed > 0 && <rect {...place} y={high - failed} height={failed} className="d-bad" />}
          </g>
        );
      })}
    </svg>
  );
}
