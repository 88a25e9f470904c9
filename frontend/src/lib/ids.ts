/** The part of a run's id by which people tell it from others: its first half is its time. */
export function shortId(runId: string): string {
  return runId.slice(-8);
}
