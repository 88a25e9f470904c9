import { ArrowDown, ArrowUp } from "lucide-react";
import { formatBytes } from "@/lib/bytes";
import { usePageWords } from "@/lib/format";
import type { Log } from "./useLog";
import type { Viewport } from "./useLogViewport";

interface LogFootProps {
  log: Log;
  viewport: Viewport;
  /** Whether lines may still come. */
  living: boolean;
  /** How many lines are of levels that are not shown. */
  hiddenLines: number;
}

/** What one knows of a log as a whole, and the ways to its ends. */
export function LogFoot({ log, viewport, living, hiddenLines }: LogFootProps) {
  const { t } = usePageWords();
  const { buffer } = log;
  const { following, seen, toEnd, toTop, toggleFollow } = viewport;
  const fresh = following || !living ? 0 : freshSince(log, seen);
  return (
    <div className="logfoot">
      {living && (
        <button type="button" className="chip" aria-pressed={following} onClick={toggleFollow}>
          <span className={following ? "live" : "live off"} />
          {following ? t.run.following : t.run.pausedFollow} <kbd className="kbd">F</kbd>
        </button>
      )}
      {(log.state === "waiting" || log.state === "connecting") && buffer.lines.length > 0 && living && (
        <span className="c-warn">{t.run.reconnecting}</span>
      )}
      <span className="mut num">
        {t.run.lines(log.hasEarlier || log.hasLater ? log.newest : buffer.lines.length)}
        {log.rate > 0 && ` · ${t.run.perSecond(log.rate)}`}
        {buffer.bytes > 0 && !log.hasEarlier && !log.hasLater && ` · ${formatBytes(buffer.bytes)}`}
      </span>
      {hiddenLines > 0 && <span className="mut">{t.run.hidden(hiddenLines)}</span>}
      {log.missing > 0 && <span className="c-warn">{t.run.missing(log.missing)}</span>}
      <span className="right row g1">
        <button type="button" className="chip" onClick={toTop}>
          <ArrowUp size={13} aria-hidden />
          {t.run.top}
        </button>
        <button type="button" className={fresh > 0 ? "chip fresh" : "chip"} onClick={toEnd}>
          <ArrowDown size={13} aria-hidden />
          {fresh > 0 ? t.run.newLines(fresh) : t.run.end} <kbd className="kbd">G</kbd>
        </button>
      </span>
    </div>
  );
}

/** How many lines have come since one left the end. */
function freshSince(log: Log, seen: number): number {
  if (seen === 0) return 0;
  return log.hasLater
    ? Math.max(0, log.newest - seen)
    : log.buffer.lines.length - log.buffer.indexOf(seen + 1);
}
