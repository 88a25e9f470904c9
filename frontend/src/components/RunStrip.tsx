import { memo } from "react";
import type { Run } from "@/api/schema.gen";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { stripOf } from "@/lib/stats";
import { isFailure, tones } from "@/lib/status";

const bar = 5;
const gap = 2;
const height = 22;

interface RunStripProps {
  /** The newest first. */
  runs: Run[];
  n?: number;
}

/** The last runs as bars, the newest at the right: height is duration, colour the outcome. */
export const RunStrip = memo(function RunStrip({ runs, n = 30 }: RunStripProps) {
  const t = useT();
  const bars = stripOf(runs, n, serverNow());
  const failed = bars.filter((b) => isFailure(b.run.status)).length;
  const width = n * (bar + gap) - gap;
  return (
    <svg
      className="strip"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={t.jobs.strip(bars.length, failed)}
    >
      {bars.map((b, i) => (
        <rect
          key={`${b.run.run_id}.${b.run.attempt}`}
          className={`m-${tones[b.run.status]}${b.run.status === "running" ? " pulse" : ""}`}
          x={(n - bars.length + i) * (bar + gap)}
          y={height - b.height * height}
          width={bar}
          height={b.height * height}
          rx={1}
        />
      ))}
    </svg>
  );
});
