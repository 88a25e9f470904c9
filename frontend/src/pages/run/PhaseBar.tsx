import { useState } from "react";
import type { Run } from "@/api/schema.gen";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { type Tone, tones } from "@/lib/status";

interface Phase {
  key: string;
  label: string;
  ms: number;
  tone: Tone;
  from: number;
  /** Done so far, from 0 to 1; undefined when it has ended or is not known. */
  share?: number | undefined;
  /** The run does not say how far it is: it is by how long the job usually takes. */
  guessed?: boolean;
}

/** What a run's time went into: waiting, and each attempt. Widths grow with the logarithm, so that short phases are seen. */
export function PhaseBar({ attempts, usual }: { attempts: Run[]; usual: number | undefined }) {
  const { t, f } = useWords();
  const now = useNow();
  const phases = phasesOf(
    [...attempts].reverse(),
    now,
    usual,
    t.run.phases,
    t.runs.attempt,
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

function phasesOf(
  attempts: Run[],
  now: number,
  usual: number | undefined,
  words: Record<"delay" | "commit" | "deliver" | "begin" | "wait" | "running" | "ran", string>,
  attemptName: (n: number) => string,
  statusName: (run: Run) => string,
): Phase[] {
  const phases: Phase[] = [];
  let at = attempts[0] ? Date.parse(attempts[0].fire_time) : now;
  for (const a of attempts) {
    const several = attempts.length > 1;
    const started = a.started_at ? Date.parse(a.started_at) : a.finished_at ? Date.parse(a.finished_at) : now;
    for (const wait of waitsOf(a, at, started, words))
      phases.push({ key: `w${a.attempt}${phases.length}`, tone: "idle", ...wait });
    if (!a.started_at) break;
    const ended = a.finished_at ? Date.parse(a.finished_at) : undefined;
    const ms = Math.max(0, (ended ?? now) - started);
    const share =
      ended !== undefined
        ? undefined
        : a.percent
          ? a.percent / 100
          : usual
            ? Math.min(0.97, ms / usual)
            : 0.6;
    const running = ended === undefined ? words.running : words.ran;
    phases.push({
      key: `r${a.attempt}`,
      label: several ? `${attemptName(a.attempt)} ${statusName(a)}` : running,
      ms,
      tone: tones[a.status],
      from: started,
      share,
      guessed: ended === undefined && !a.percent,
    });
    at = ended ?? now;
  }
  return phases;
}

/** What an attempt waited for from an instant until it began: in its stages, where all of them are known. */
function waitsOf(
  a: Run,
  from: number,
  started: number,
  words: Record<"delay" | "commit" | "deliver" | "begin" | "wait", string>,
): Pick<Phase, "label" | "ms" | "from">[] {
  const stages: [string, number][] =
    a.attempt > 1
      ? [[words.wait, started]]
      : a.committed_at && a.delivered_at
        ? [
            [words.commit, Date.parse(a.committed_at)],
            [words.deliver, Date.parse(a.delivered_at)],
            [words.begin, started],
          ]
        : [[words.delay, started]];
  let at = from;
  return stages
    .map(([label, until]) => {
      const wait = { label, ms: Math.max(0, until - at), from: at };
      at = Math.max(at, until);
      return wait;
    })
    .filter((wait) => wait.ms > 0 || stages.length === 1);
}
