import { useNavigate } from "@tanstack/react-router";
import { memo, useMemo, useState } from "react";
import type { Run } from "@/api/schema.gen";
import { serverNow } from "@/lib/clock";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { stripOf } from "@/lib/stats";
import { durationOf, isFailure, tones } from "@/lib/status";
import { tip } from "./Tips";

const bar = 4;
const step = bar + 2;
const height = 22;

interface RunStripProps {
  /** The newest first. */
  runs: Run[];
  n?: number;
}

/**
 * The last runs as bars, the newest at the right: height is duration, colour the outcome. The
 * pointer tells of each and opens it. All bars of a colour are one path: a table of fifty
 * strips would have fifteen hundred elements else.
 */
export const RunStrip = memo(function RunStrip({ runs, n = 30 }: RunStripProps) {
  const { t, f } = useWords();
  const navigate = useNavigate();
  const [over, setOver] = useState<number>();
  const bars = useMemo(() => stripOf(runs, n, serverNow()), [runs, n]);
  const paths = useMemo(() => {
    const byLook = new Map<string, string>();
    for (const [i, b] of bars.entries()) {
      const look = `m-${tones[b.run.status]}${b.run.status === "running" ? " pulse" : ""}`;
      byLook.set(look, (byLook.get(look) ?? "") + barAt((n - bars.length + i) * step, b.height * height));
    }
    return [...byLook];
  }, [bars, n]);
  const failed = bars.filter((b) => isFailure(b.run.status)).length;
  const width = n * step - (step - bar);
  const run = over === undefined ? undefined : bars[over]?.run;
  const lasted = run && durationOf(run, serverNow());
  return (
    <svg
      className={run ? "strip click" : "strip"}
      width={width}
      height={height}
      preserveAspectRatio="none"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={t.jobs.strip(bars.length, failed)}
      onPointerMove={(e) => {
        const box = e.currentTarget.getBoundingClientRect();
        const x = ((e.clientX - box.left) * width) / (box.width || width);
        setOver(Math.floor(x / step) - (n - bars.length));
      }}
      onPointerLeave={() => setOver(undefined)}
      onClick={(e) => {
        if (!run) return;
        e.stopPropagation(); // the row that it is in opens something else
        void navigate({ to: "/runs/$runId", params: { runId: run.run_id } });
      }}
    >
      {paths.map(([look, d]) => (
        <path key={look} className={look} d={d} />
      ))}
      {run && over !== undefined && (
        <rect
          key={over}
          className="stripmark"
          x={(n - bars.length + over) * step - 1}
          width={step}
          height={height}
          {...tip(
            [
              t.status[run.status],
              lasted !== undefined && formatDuration(lasted),
              f.short(run.fire_time, serverNow()),
            ]
              .filter(Boolean)
              .join(" · "),
          )}
        />
      )}
    </svg>
  );
});

/** A bar that stands on the strip's lower edge, its upper corners round. */
function barAt(x: number, high: number): string {
  const top = (height - high + 1).toFixed(1);
  return `M${x} ${height}V${top}q0-1 1-1h${bar - 2}q1 0 1 1V${height}z`;
}
