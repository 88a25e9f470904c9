import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, type MouseEvent, useEffect, useMemo, useRef, useState } from "react";
import type { StepHistory } from "@/api/schema.gen";
import { StepIcon } from "@/components/graph/GraphBox";
import { useStateWord } from "@/components/graph/StepState";
import { Legend } from "@/components/Legend";
import { tip } from "@/components/Tips";
import { useWindow } from "@/components/useWindow";
import { base } from "@/lib/base";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import type { GraphStep } from "@/lib/graph/document";
import { barsOf, type Cell, gridOf } from "@/lib/graph/grid";
import { gravest, type StepState, stepTones } from "@/lib/graph/steps";

const rowHeight = 28;

interface StepGridProps {
  history: StepHistory;
  steps: readonly GraphStep[];
  now: number;
}

interface Place {
  row: number; // 0 is the runs themselves
  column: number;
}

const lookOf = (state: StepState) => `gcell t-${stepTones[state]} is-${state}`;

/** The last runs of a workflow side by side, with the state of each step. It is walked with the arrow keys. */
export function StepGrid({ history, steps, now }: StepGridProps) {
  const { t, f } = usePageWords();
  const word = useStateWord();
  const navigate = useNavigate();
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, runs } = useMemo(() => gridOf(history, steps), [history, steps]);
  const bars = barsOf(runs, now);
  const view = useWindow(scroller, rows.length, rowHeight);
  const [place, setPlace] = useState<Place>();
  const at = {
    row: Math.min(place?.row ?? 0, rows.length),
    column: Math.min(place?.column ?? runs.length, runs.length - 1),
  };
  const present = useMemo(() => {
    const all = new Set(rows.flatMap((r) => r.cells.map((c) => c.state)));
    return gravest.filter((s) => all.has(s));
  }, [rows]);

  // Where the runs do not fit, the newest are in sight first.
  useEffect(() => {
    if (scroller.current) scroller.current.scrollLeft = scroller.current.scrollWidth;
  }, []);

  // A cell that was out of sight is there once what is in sight has been drawn again.
  const awaited = useRef(false);
  useEffect(() => {
    if (!awaited.current) return;
    const cell = scroller.current?.querySelector<HTMLElement>(`[data-at="${at.row}.${at.column}"]`);
    if (!cell) return;
    awaited.current = false;
    cell.focus();
  });
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const moves: Record<string, Place> = {
      ArrowLeft: { ...at, column: at.column - 1 },
      ArrowRight: { ...at, column: at.column + 1 },
      ArrowUp: { ...at, row: at.row - 1 },
      ArrowDown: { ...at, row: at.row + 1 },
      Home: { ...at, column: 0 },
      End: { ...at, column: runs.length - 1 },
    };
    const to = moves[e.key];
    if (!to) return;
    e.preventDefault(); // nor do the keys of the page
    const next = { row: within(to.row, 0, rows.length), column: within(to.column, 0, runs.length - 1) };
    awaited.current = true;
    setPlace(next);
    const el = scroller.current;
    if (el && next.row > 0 && (next.row <= view.from || next.row > view.to))
      el.scrollTop = next.row * rowHeight - el.clientHeight / 2;
  };
  const onClick = (e: MouseEvent) => {
    const link = (e.target as Element).closest<HTMLElement>("a[data-run]");
    if (!link || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    const { run: runId = "", step } = link.dataset;
    void navigate({ to: "/runs/$runId", params: { runId }, search: { step } });
  };
  const focus = (row: number, column: number) => ({
    "data-at": `${row}.${column}`,
    tabIndex: row === at.row && column === at.column ? 0 : -1,
    onFocus: () => setPlace({ row, column }),
  });
  if (runs.length === 0) return <p className="pad mut">{t.steps.noRuns}</p>;
  const when = runs.map((r) => f.short(r.fire_time, now));
  const nameOf = (name: string, many: number) => (many > 1 ? t.steps.stack(name, many) : name);
  const told = ({ state, alike, ms }: Cell, many: number) =>
    [
      state ? word(state) : t.steps.noCell,
      alike !== undefined && t.steps.tally(alike, many),
      ms > 0 && formatDuration(ms),
    ]
      .filter(Boolean)
      .join(" ");
  return (
    <>
      <div className="row g3 wrap gridnote">
        <span className="mut">{t.steps.gridHint}</span>
        <Legend marks={present.map((state) => [lookOf(state), word(state)])} />
      </div>
      <div className="stepgrid" ref={scroller}>
        <table
          // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid is a table that is walked with the keys
          role="grid"
          aria-label={t.steps.grid(runs.length)}
          aria-rowcount={rows.length + 1}
          aria-colcount={runs.length + 1}
          onKeyDown={onKeyDown}
          onClick={onClick}
        >
          <thead>
            <tr aria-rowindex={1}>
              <th scope="col">{t.steps.figures.step}</th>
              {runs.map((r, i) => {
                const bar = bars[i];
                const text = [
                  t.steps.column(when[i] ?? "", word(r.status)),
                  bar && formatDuration(bar.ms),
                  `v${r.version}`,
                ]
                  .filter(Boolean)
                  .join(", ");
                return (
                  <th key={r.run_id} scope="col">
                    <a
                      href={`${base}/runs/${r.run_id}`}
                      data-run={r.run_id}
                      aria-label={text}
                      {...tip(text)}
                      {...focus(0, i)}
                      className={`gbar t-${stepTones[r.status]}`}
                    >
                      <i style={{ height: `${Math.round(8 + 92 * (bar?.share ?? 0))}%` }} />
                    </a>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {view.before > 0 && (
              <tr aria-hidden>
                <td colSpan={runs.length + 1} style={{ height: view.before }} />
              </tr>
            )}
            {rows.slice(view.from, view.to).map((r, n) => {
              const row = view.from + n + 1;
              const name = nameOf(r.name, r.many);
              return (
                <tr key={r.id} aria-rowindex={row + 1}>
                  <th scope="row">
                    <span className="row g2">
                      <StepIcon kind={r.kind} many={r.many > 1} />
                      <span className="trunc" dir="auto">
                        {r.name}
                      </span>
                      {r.many > 1 && <span className="mut num">× {r.many}</span>}
                      {r.gone && (
                        <span className="gtag" {...tip(t.steps.goneHint)}>
                          {t.steps.gone}
                        </span>
                      )}
                    </span>
                  </th>
                  {r.cells.map((cell, i) => {
                    const run = runs[i]?.run_id ?? "";
                    const text = t.steps.cell(name, told(cell, r.many), when[i] ?? "");
                    if (!cell.state) return <td key={run} aria-label={text} {...focus(row, i)} />;
                    return (
                      <td key={run}>
                        <a
                          href={`${base}/runs/${run}?step=${cell.step}`}
                          data-run={run}
                          data-step={cell.step}
                          aria-label={text}
                          {...tip(text)}
                          {...focus(row, i)}
                          className={lookOf(cell.state)}
                        />
                      </td>
                    );
                  })}
                </tr>
              );
            })}
            {view.after > 0 && (
              <tr aria-hidden>
                <td colSpan={runs.length + 1} style={{ height: view.after }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </>
  );
}

const within = (n: number, least: number, most: number): number => Math.max(least, Math.min(n, most));
