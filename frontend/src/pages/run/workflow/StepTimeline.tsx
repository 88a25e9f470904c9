import { useMemo, useRef } from "react";
import type { RunStep } from "@/api/schema.gen";
import { stepIcons, useStateWord } from "@/components/graph/StepState";
import { useWindow } from "@/components/useWindow";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { criticalPath } from "@/lib/graph/critical";
import { awaitsOf, beganAt, stateOf } from "@/lib/graph/document";
import { stepTones } from "@/lib/graph/steps";
import { waitInWords } from "@/lib/graph/wait";
import { lastsOf, type StepsProps } from "./StepTable";

const rowHeight = 32;
const ticks = 4;

/** When a step was there at all: since it was triggered, or since it began, as a wait does at once. */
const cameAt = (s: RunStep): string | undefined => s.wait?.since ?? s.decided_at ?? beganAt(s);

/** When each step waited and ran. Marked are those that decided how long the run took. */
export function StepTimeline({ steps, chosen, now, onChoose }: StepsProps) {
  const { t, f } = usePageWords();
  const word = useStateWord();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () =>
      steps
        .filter((s) => cameAt(s) !== undefined)
        .toSorted((a, b) => ((cameAt(a) ?? "") < (cameAt(b) ?? "") ? -1 : 1)),
    [steps],
  );
  const critical = useMemo(() => criticalPath(steps), [steps]);
  const view = useWindow(scroller, rows.length, rowHeight);
  const from = Math.min(...rows.map((s) => Date.parse(cameAt(s) ?? "")));
  const to = Math.max(from + 1000, ...rows.map((s) => (s.finished_at ? Date.parse(s.finished_at) : now)));
  const at = (ms: number) => ((ms - from) / (to - from)) * 100;
  const never = steps.length - rows.length;
  if (rows.length === 0) return <p className="note info steps-none">{t.steps.noneYet}</p>;
  return (
    <div className="steptimes" ref={scroller} tabIndex={0} role="group" aria-label={t.steps.view.timeline}>
      <div className="stepaxis" aria-hidden>
        <span />
        <span className="lane">
          {Array.from({ length: ticks + 1 }, (_, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a tick is its index
            <i key={i} style={{ left: `${(i / ticks) * 100}%` }} className="num">
              {i === 0 ? "0" : `+${formatDuration(Math.round(((to - from) * i) / ticks))}`}
            </i>
          ))}
        </span>
      </div>
      <ul style={{ paddingTop: view.before, paddingBottom: view.after }}>
        {rows.slice(view.from, view.to).map((s) => {
          const came = Date.parse(cameAt(s) ?? "");
          const began = beganAt(s);
          const start = began ? Date.parse(began) : undefined;
          const end = s.finished_at ? Date.parse(s.finished_at) : now;
          const took = lastsOf(s, now);
          const state = stateOf(s);
          const Icon = stepIcons[state];
          const wait = awaitsOf(s);
          const isCritical = critical.has(s.step);
          const label = [
            s.title ?? s.step,
            word(state),
            wait && waitInWords(wait, now, { t, f }),
            took !== undefined && formatDuration(took),
            isCritical && t.steps.critical,
          ];
          return (
            <li key={s.step}>
              <button
                type="button"
                className={s.step === chosen ? "steprow on" : "steprow"}
                onClick={() => onChoose(s.step)}
              >
                <span className="sr">{label.filter(Boolean).join(", ")}</span>
                <span className={`row g2 c-${stepTones[state]}`} aria-hidden>
                  <Icon size={14} aria-hidden className={s.state === "running" ? "spin" : undefined} />
                  <span className="trunc steplabel">{s.title ?? s.step}</span>
                </span>
                <span className="lane" aria-hidden>
                  <i
                    className="waited"
                    style={{ left: `${at(came)}%`, width: `${at(start ?? end) - at(came)}%` }}
                  />
                  {start !== undefined && (
                    <i
                      className={`ran ${s.wait ? "idled" : `b-${stepTones[state]}`}${isCritical ? " critical" : ""}`}
                      style={{ left: `${at(start)}%`, width: `${Math.max(0.2, at(end) - at(start))}%` }}
                    />
                  )}
                </span>
                <span className="num mut" aria-hidden>
                  {took === undefined ? "" : formatDuration(took)}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      <p className="mut stepsfoot">
        {[critical.size > 0 && t.steps.criticalHint, never > 0 && t.steps.never(never)]
          .filter(Boolean)
          .join(" ")}
      </p>
    </div>
  );
}
