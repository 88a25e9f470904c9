import { useMemo, useRef, useState } from "react";
import type { RunStep } from "@/api/schema.gen";
import { StepIcon } from "@/components/graph/GraphBox";
import { StepState } from "@/components/graph/StepState";
import { JobLink } from "@/components/JobName";
import { SortHead } from "@/components/SortHead";
import { Clock } from "@/components/Time";
import { useWindow } from "@/components/useWindow";
import type { Sort } from "@/lib/columns";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { attemptOf, awaitsOf, beganAt, calledBy, stateOf, stepsOfRun, tookOf } from "@/lib/graph/document";
import { edgesOf, inOrder, isAwaiting, isBad, type StepState as State } from "@/lib/graph/steps";
import { waitInWords } from "@/lib/graph/wait";
import { useSayer } from "@/lib/reason";

const rowHeight = 41;
const columns = ["step", "state", "started", "duration", "attempt"] as const;
type Column = (typeof columns)[number];

export interface StepsProps {
  steps: RunStep[];
  chosen: string | undefined;
  now: number;
  onChoose(step: string): void;
}

/** How long a step took, or has been running, in ms. */
export function lastsOf(step: RunStep, now: number): number | undefined {
  const began = beganAt(step);
  const goesOn = step.state === "running" || isAwaiting(stateOf(step));
  return tookOf(step) ?? (goesOn && began ? Math.max(0, now - Date.parse(began)) : undefined);
}

const ranks: Partial<Record<State, number>> = {
  awaits_approval: 1,
  running: 1,
  awaits_signal: 1,
  awaits_runs: 1,
  awaits_time: 1,
  queued: 2,
  pending: 2,
  ready: 3,
  waiting: 4,
};

/** All steps of a run in a table, of which only the rows in sight are drawn. */
export function StepTable({ steps, chosen, now, onChoose }: StepsProps) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const scroller = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState<Sort<Column>>();
  const places = useMemo(() => new Map(inOrder(stepsOfRun(steps)).map((s, i) => [s.step, i + 1])), [steps]);
  const rows = useMemo(() => {
    const value = (s: RunStep): string | number => {
      if (sort?.by === "step") return s.step;
      if (sort?.by === "state") return isBad(s.state) ? 0 : (ranks[stateOf(s)] ?? 5);
      if (sort?.by === "started") return beganAt(s) ?? "~";
      if (sort?.by === "duration") return tookOf(s) ?? -1;
      if (sort?.by === "attempt") return attemptOf(s) ?? 0;
      return places.get(s.step) ?? 0;
    };
    const order = (a: RunStep, b: RunStep) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : 0) * (sort?.down ? -1 : 1);
    };
    return steps.toSorted(order);
  }, [steps, sort, places]);
  const view = useWindow(scroller, rows.length, rowHeight);
  const head = (by: Column, right?: boolean, down?: boolean) => (
    <SortHead by={by} sort={sort} onSort={setSort} right={right} down={down}>
      {t.steps.columns[by]}
    </SortHead>
  );
  return (
    <div className="steptable" ref={scroller} tabIndex={0} role="group" aria-label={t.steps.view.steps}>
      <table className="tbl" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {head("step")}
            {head("state")}
            <th>{t.steps.columns.after}</th>
            {head("started")}
            {head("duration", true, true)}
            {head("attempt", true, true)}
            <th>{t.steps.columns.why}</th>
          </tr>
        </thead>
        <tbody>
          {view.before > 0 && (
            <tr aria-hidden>
              <td colSpan={7} style={{ height: view.before }} />
            </tr>
          )}
          {rows.slice(view.from, view.to).map((s, i) => {
            const took = lastsOf(s, now);
            const began = beganAt(s);
            const attempt = attemptOf(s);
            const wait = awaitsOf(s);
            const awaits = wait && waitInWords(wait, now, { t, f });
            return (
              <tr
                key={s.step}
                className={s.step === chosen ? "row-link sel" : "row-link"}
                aria-rowindex={view.from + i + 2}
                onClick={() => onChoose(s.step)}
              >
                <td>
                  <span className="row g2">
                    <StepIcon kind={s.task} />
                    <button type="button" className="stepname trunc" onClick={() => onChoose(s.step)}>
                      {s.title ?? s.step}
                    </button>
                    {s.title && <span className="mono mut trunc">{s.step}</span>}
                    <JobLink job={calledBy(s)} />
                  </span>
                </td>
                <td>
                  <StepState state={stateOf(s)} />
                </td>
                <td className="mut trunc stepafter">{namesOf(s).join(", ")}</td>
                <td className="num">{began ? <Clock at={began} /> : "—"}</td>
                <td className="num r">
                  {took === undefined
                    ? "—"
                    : formatDuration(s.finished_at ? took : Math.floor(took / 1000) * 1000)}
                </td>
                <td className="num r">{attempt === undefined ? "—" : f.number(attempt)}</td>
                <td className="mut trunc stepwhy">{awaits ?? say(s.message ?? s.reason)}</td>
              </tr>
            );
          })}
          {view.after > 0 && (
            <tr aria-hidden>
              <td colSpan={7} style={{ height: view.after }} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

const namesOf = (s: RunStep): string[] => edgesOf(s.after).map((e) => e.step);
