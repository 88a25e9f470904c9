/** The part of a run's id by which people tell it from others: its first half is its time. */
export function shortId(runId: string): string {
  return runId.slice(-8);
}

const wholeId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isRunId = (text: string): boolean => wholeId.test(text);

/** What to look for to find all lines that a run printed, in all its attempts and pieces. */
export function linesOf(run: { run_id: string; fire_time: string }): {
  run: string;
  from: string;
  to: string;
} {
  const fired = Date.parse(run.fire_time);
  return { run: run.run_id, from: new Date(fired).toISOString(), to: new Date(fired + 1000).toISOString() };
}
