import type { Run } from "@/api/schema.gen";

/** What the pings of a job say, or their absence. */
export type Heard =
  | { state: "never" }
  | { state: "expected" | "running" | "late" | "ended"; run: Run }
  | { state: "waiting" };

/**
 * What is known of a job whose runs are done elsewhere, by its newest runs, newest fire first. used says that
 * one of its tokens was used, which may be longer ago than its runs.
 */
export function heardOf(runs: readonly Run[], used: boolean): Heard {
  const running = runs.find((r) => r.status === "running");
  if (running) return { state: "running", run: running };
  const expected = runs.find((r) => r.status === "queued" || r.status === "pending");
  if (expected) return { state: "expected", run: expected };
  const last = runs.find((r) => r.status !== "skipped");
  if (!last) return used ? { state: "waiting" } : { state: "never" };
  const late = last.status === "missed" || last.status === "timed_out";
  return { state: late ? "late" : "ended", run: last };
}
