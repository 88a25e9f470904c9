import { memo } from "react";
import { useWords } from "@/lib/format";
import type { LogStrip } from "@/lib/logstrip";

const height = 26;

interface StripProps {
  strip: LogStrip;
  /** What is on the screen, in ms. */
  from: number;
  to: number;
  /** Of the buffer: another is drawn anew. */
  version: number;
  onJump(at: number): void;
}

/** The whole log in small: how many lines there are when, warnings and errors, and what is on the screen. */
export const Strip = memo(
  function Strip({ strip, from, to, onJump }: StripProps) {
    const { f } = useWords();
    const { parts } = strip;
    const most = Math.max(1, ...parts.map((p) => p.lines));
    const [left, right] = [strip.share(from), strip.share(to)];
    const at = (e: React.MouseEvent<HTMLElement>) => {
      const box = e.currentTarget.getBoundingClientRect();
      return strip.from + ((e.clientX - box.left) / box.width) * (strip.to - strip.from);
    };
    return (
      <div
        className="logstrip"
        aria-hidden
        onClick={(e) => onJump(at(e))}
        onMouseMove={(e) => {
          e.currentTarget.title = f.millis(new Date(at(e)).toISOString());
        }}
      >
        <svg
          viewBox={`0 0 ${parts.length} ${height}`}
          preserveAspectRatio="none"
          width="100%"
          height={height}
        >
          {parts.map((p, i) => {
            const h = p.lines === 0 ? 0 : 4 + (p.lines / most) * (height - 8);
            const marked = p.error > 0 ? "m-bad" : p.warn > 0 ? "m-warn" : "";
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the bars do not move
              <g key={i}>
                {h > 0 && <rect x={i + 0.14} y={height - h} width={0.72} height={h} className="quiet" />}
                {marked && (
                  <rect
                    x={i + 0.14}
                    y={height - h}
                    width={0.72}
                    height={Math.min(h, Math.max(6, (h * (p.error || p.warn)) / p.lines))}
                    className={marked}
                  />
                )}
              </g>
            );
          })}
        </svg>
        <i style={{ left: `${left * 100}%`, width: `${Math.max(0.6, (right - left) * 100)}%` }} />
      </div>
    );
  },
  (a, b) => a.version === b.version && a.from === b.from && a.to === b.to && a.strip === b.strip,
);
