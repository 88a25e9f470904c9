import { usePageT } from "@/i18n";

const step = 3;
const height = 24;

/** How many there were over time: a bar for each part of the range, in one path. */
export function CountBars({ counts }: { counts: number[] }) {
  const t = usePageT();
  const peak = Math.max(1, ...counts);
  const width = counts.length * step;
  const bars = counts
    .map((n, i) => {
      const h = n === 0 ? 1 : Math.max(3, (n / peak) * height);
      return `M${i * step} ${height - h}h${step - 1}v${h}h${1 - step}z`;
    })
    .join("");
  const all = counts.reduce((sum, n) => sum + n, 0);
  return (
    <svg
      className="countbars"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t.errors.bars(all, peak)}
    >
      <path d={bars} />
    </svg>
  );
}
