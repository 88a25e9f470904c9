import { memo } from "react";
import type { LogLine } from "@/api/schema.gen";

const bars = 140;
const height = 26;

interface LogStripProps {
  lines: LogLine[];
  /** Which part of the lines is on the screen, from 0 to 1. */
  from: number;
  to: number;
  version: number;
  onJump(share: number): void;
}

/** The whole log in small: how much text there is where, warnings and errors, and what is on the screen. */
export const LogStrip = memo(
  function LogStrip({ lines, from, to, onJump }: LogStripProps) {
    const parts = summarise(lines);
    const longest = Math.max(1, ...parts.map((p) => p.text));
    return (
      <div
        className="logstrip"
        aria-hidden
        onClick={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          onJump((e.clientX - box.left) / box.width);
        }}
      >
        <svg viewBox={`0 0 ${bars} ${height}`} preserveAspectRatio="none" width="100%" height={height}>
          {parts.map((p, i) => {
            const h = p.text === 0 ? 0 : 4 + (p.text / longest) * (height - 8);
            const tone = p.worst === 2 ? "m-bad" : p.worst === 1 ? "m-warn" : "quiet";
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the bars do not move
              h > 0 && <rect key={i} x={i + 0.14} y={height - h} width={0.72} height={h} className={tone} />
            );
          })}
        </svg>
        <i style={{ left: `${from * 100}%`, width: `${Math.max(1, (to - from) * 100)}%` }} />
      </div>
    );
  },
  (a, b) => a.version === b.version && a.from === b.from && a.to === b.to,
);

interface Part {
  text: number;
  /** 2 for an error, 1 for a warning, else 0. */
  worst: number;
}

function summarise(lines: LogLine[]): Part[] {
  const parts: Part[] = Array.from({ length: bars }, () => ({ text: 0, worst: 0 }));
  // Of a long log a sample is enough; errors and warnings are looked for in all lines.
  const size = Math.max(lines.length, bars);
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i];
    const part = parts[Math.min(bars - 1, Math.floor((i / size) * bars))];
    if (!line || !part) continue;
    part.text += Math.min(line.text.length, 200);
    if (line.level === "error") part.worst = 2;
    else if (line.level === "warn" && part.worst === 0) part.worst = 1;
  }
  return parts;
}
