import type { Tone } from "@/lib/status";

const w = 72;
const h = 24;

/** A line without axes beside a figure: which way it goes, no more. */
export function Spark({ values, tone }: { values: number[]; tone: Tone | "accent" }) {
  if (values.length < 2 || values.every((v) => v === values[0])) return null;
  const low = Math.min(...values);
  const span = Math.max(...values) - low || 1;
  const points = values.map(
    (v, i) => [(i / (values.length - 1)) * (w - 4) + 2, h - 3 - ((v - low) / span) * (h - 6)] as const,
  );
  const path = points.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const last = points.at(-1);
  return (
    <svg width={w} height={h} className={`spark s-${tone}`} aria-hidden="true">
      <path d={`${path}L${w - 2} ${h}L2 ${h}Z`} className="area" />
      <path d={path} className="line" />
      {last && <circle cx={last[0]} cy={last[1]} r={2} />}
    </svg>
  );
}
