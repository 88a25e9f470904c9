import type { StepFailure, StepFigures } from "@/api/schema.gen";

/** How often a step fails: the first that its share of failures is not above. */
export const heats = ["idle", "never", "rarely", "sometimes", "often"] as const;
export type Heat = (typeof heats)[number];

/** How steps did, together. */
export interface Figures {
  heat: Heat;
  runs: number;
  failures: number;
  /** Of several steps the longest. */
  p50_ms?: number;
  p95_ms?: number;
  last?: StepFailure;
}

/** Up to this share of its runs a step fails rarely, and sometimes. */
export const rarely = 0.05;
export const sometimes = 0.2;

export function heatOf(runs: number, failures: number): Heat {
  if (runs === 0) return "idle";
  if (failures === 0) return "never";
  const share = failures / runs;
  return share <= rarely ? "rarely" : share <= sometimes ? "sometimes" : "often";
}

export const figuresOf = ({ runs, failures, p50_ms, p95_ms, last_failure }: StepFigures): Figures => ({
  heat: heatOf(runs, failures),
  runs,
  failures,
  p50_ms,
  p95_ms,
  last: last_failure,
});

/** What several steps did, such as those of one box. */
export function together(all: readonly Figures[]): Figures {
  const runs = all.reduce((n, s) => n + s.runs, 0);
  const failures = all.reduce((n, s) => n + s.failures, 0);
  const last = all.flatMap((s) => s.last ?? []).sort((a, b) => (a.at < b.at ? 1 : -1))[0];
  const p50_ms = longest(all.map((s) => s.p50_ms));
  return {
    heat: heatOf(runs, failures),
    runs,
    failures,
    p50_ms,
    p95_ms: longest(all.map((s) => s.p95_ms)),
    last,
  };
}

function longest(all: (number | undefined)[]): number | undefined {
  const known = all.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
