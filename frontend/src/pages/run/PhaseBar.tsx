import { useState } from "react";
import type { Run } from "@/api/schema.gen";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { phasesOf } from "./phases";

/** What a run's time went into: waiting, and each attempt. Widths grow with the logarithm, so that short phases are seen. */
export function PhaseBar({ attempts, usual }: { attempts: Run[]; usual: number | undefined }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const phases = phasesOf(
    [...attempts].reverse(),
    now,
    usual,
    t.run.phases,
    t.runlist.attempt,
    (a) => t.run.ended[a.status] ?? "",
  );
  const newest = attempts[0];
  const [over, setOver] = useState<string>();
  return (
    <div className="phases">
      {phases.map((p) => (
        <div
          key={p.key}
          className="phase"
          style={{ flexGrow: Math.log10(Math.max(10, p.ms)) ** 2 }}
          tabIndex={0}
          role="img"
          aria-label={`${p.label} ${formatDuration(p.ms)}`}
          onMouseEnter={() => setOver(p.key)}
          onMouseLeave={() => setOver(undefined)}
          onFocus={() => setOver(p.key)}
          onBlur={() => setOver(undefined)}
          onKeyDown={(e) => e.key === "Escape" && setOver(undefined)}
        >
          {over === p.key && (
            <span className="tt phasecard" role="status">
              <b>{p.label}</b>
              <span className="num">{f.full(p.from)}</span>
              <span className="num">
                {f.millis(new Date(p.from).toISOString())} →{" "}
                {p.share === undefined
                  ? f.millis(new Date(p.from + p.ms).toISOString())
                  : t.run.phases.running}
              </span>
              <span className="num">{f.number(p.ms)} ms</span>
            </span>
          )}
          <span className={`pbar b-${p.tone}-soft`}>
            <i
              className={`b-${p.tone}${p.share !== undefined ? " pulse" : ""}${p.guessed ? " guessed" : ""}`}
              style={{ width: `${(p.share ?? 1) * 100}%` }}
            />
          </span>
          <span className="plabel trunc">
            {p.label} <b className="num">{formatDuration(p.ms)}</b>
          </span>
        </div>
      ))}
      {usual !== undefined && newest?.status === "running" && (
        <span className="mut num usual">
          {newest.percent ? `${Math.round(newest.percent)}% · ` : ""}
          {t.run.usual(formatDuration(usual))}
        </span>
      )}
    </div>
  );
}
