import type { BulkBackfillJob, OtherFires } from "@/api/schema.gen";

/** How much of a backfill of many jobs has run, of what its jobs say. */
export function totals(jobs: BulkBackfillJob[]) {
  const sum = (of: (j: BulkBackfillJob) => number | undefined) => jobs.reduce((n, j) => n + (of(j) ?? 0), 0);
  return {
    fires: sum((j) => j.fires),
    begun: sum((j) => j.begun),
    alive: sum((j) => j.alive),
    succeeded: sum((j) => j.succeeded),
    failed: sum((j) => j.failed),
  };
}

/** What became of fires that are not selected, in short. */
export function othersInWords(others: OtherFires[], outcomes: Record<string, string>): string {
  return others.map((o) => `${o.fires} ${(outcomes[o.outcome] ?? o.outcome).toLowerCase()}`).join(", ");
}
