import type { Run } from "@/api/schema.gen";
import { isScheduled, type Tone, tones, waitsSince } from "@/lib/status";

export interface Phase {
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

/** What a run waits for, in words. */
type PhaseWords = Record<"delay" | "commit" | "queue" | "deliver" | "begin" | "wait", string>;

/** Lays out the attempts of a run, the first one first. */
export function phasesOf(
  attempts: Run[],
  now: number,
  usual: number | undefined,
  words: PhaseWords & Record<"running" | "ran", string>,
  attemptName: (n: number) => string,
  statusName: (run: Run) => string,
): Phase[] {
  const phases: Phase[] = [];
  const [first] = attempts;
  let at = first
    ? Date.parse(isScheduled(first) ? first.fire_time : (first.queued_at ?? waitsSince(first)))
    : now;
  for (const [i, a] of attempts.entries()) {
    const several = attempts.length > 1;
    const ended = endOf(a, attempts[i + 1]);
    const started = a.started_at ? Date.parse(a.started_at) : (ended ?? now);
    for (const wait of waitsOf(a, at, started, words))
      phases.push({ key: `w${a.attempt}${phases.length}`, tone: "idle", ...wait });
    at = ended ?? now;
    if (!a.started_at) continue;
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
  }
  return phases;
}

/** When an attempt was over. One that has another after it is over by then, whatever is known of its end. */
function endOf(attempt: Run, next: Run | undefined): number | undefined {
  const end = attempt.finished_at ?? (next && (next.committed_at ?? next.started_at));
  return end === undefined ? undefined : Date.parse(end);
}

/** What an attempt waited for from an instant until it began: in its stages, where all of them are known. */
function waitsOf(
  a: Run,
  from: number,
  started: number,
  words: PhaseWords,
): Pick<Phase, "label" | "ms" | "from">[] {
  const stages: [string, number][] =
    a.attempt > 1
      ? [[words.wait, started]]
      : a.committed_at && a.delivered_at
        ? [
            [words.commit, Date.parse(a.queued_at ?? a.committed_at)],
            [words.queue, Date.parse(a.committed_at)],
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
