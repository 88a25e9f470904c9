import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import type { StepHistory } from "@/api/schema.gen";
import { StepIcon } from "@/components/graph/GraphBox";
import { StepState } from "@/components/graph/StepState";
import { SortHead } from "@/components/SortHead";
import { useWindow } from "@/components/useWindow";
import type { Sort } from "@/lib/columns";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import type { GraphStep } from "@/lib/graph/document";
import { type Figures, figuresOf } from "@/lib/graph/heat";
import { inOrder } from "@/lib/graph/steps";

const rowHeight = 41;
const columns = ["runs", "failures", "share", "p50", "p95"] as const;
type Column = (typeof columns)[number];

const values: Record<Column, (f: Figures) => number> = {
  runs: (f) => f.runs,
  failures: (f) => f.failures,
  share: (f) => (f.runs === 0 ? -1 : f.failures / f.runs),
  p50: (f) => f.p50_ms ?? -1,
  p95: (f) => f.p95_ms ?? -1,
};

interface StepFiguresTableProps {
  history: StepHistory;
  steps: readonly GraphStep[];
  now: number;
}

/** How often each step failed and how long it took, in a table. */
export function StepFiguresTable({ history, steps, now }: StepFiguresTableProps) {
  const { t, f } = usePageWords();
  const scroller = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState<Sort<Column>>();
  const rows = useMemo(() => {
    const byStep = new Map(history.steps.map((s) => [s.step, figuresOf(s)]));
    const all = inOrder(steps).map((step) => ({ step, figures: byStep.get(step.step) ?? nothing }));
    if (!sort) return all;
    const value = values[sort.by];
    return all.sort((a, b) => (value(a.figures) - value(b.figures)) * (sort.down ? -1 : 1));
  }, [history, steps, sort]);
  const view = useWindow(scroller, rows.length, rowHeight);
  const took = (ms: number | undefined) => (ms === undefined ? "—" : formatDuration(ms));
  const space = (height: number) =>
    height > 0 && (
      <tr aria-hidden>
        <td colSpan={columns.length + 2} style={{ height }} />
      </tr>
    );
  return (
    <div
      className="stepgrid"
      ref={scroller}
      tabIndex={0}
      role="group"
      aria-label={t.steps.historyView.figures}
    >
      <table className="tbl" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th>{t.steps.figures.step}</th>
            {columns.map((by) => (
              <SortHead key={by} by={by} sort={sort} onSort={setSort} right down>
                {t.steps.figures[by]}
              </SortHead>
            ))}
            <th>{t.steps.figures.last}</th>
          </tr>
        </thead>
        <tbody>
          {space(view.before)}
          {rows.slice(view.from, view.to).map(({ step, figures: of }, i) => (
            <tr key={step.step} aria-rowindex={view.from + i + 2}>
              <td>
                <span className="row g2">
                  <StepIcon kind={step.kind} />
                  <span className="trunc">{step.title ?? step.step}</span>
                </span>
              </td>
              <td className="num r">{f.number(of.runs)}</td>
              <td className="num r">{f.number(of.failures)}</td>
              <td className="num r">{of.runs === 0 ? "—" : f.percent(of.failures / of.runs)}</td>
              <td className="num r">{took(of.p50_ms)}</td>
              <td className="num r">{took(of.p95_ms)}</td>
              <td>
                {of.last && (
                  <Link
                    to="/runs/$runId"
                    params={{ runId: of.last.run_id }}
                    search={{ step: step.step }}
                    className="row g2"
                  >
                    <StepState state={of.last.status} />
                    {f.short(of.last.at, now)}
                  </Link>
                )}
              </td>
            </tr>
          ))}
          {space(view.after)}
        </tbody>
      </table>
    </div>
  );
}

const nothing: Figures = { heat: "idle", runs: 0, failures: 0 };
