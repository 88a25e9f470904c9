import type { LogLine, Run } from "@/api/schema.gen";

const noon = Date.parse("2026-01-05T12:00:00Z");

/** An instant so many seconds after noon. */
export const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

/** A run that succeeded within a second, but for what is given. */
export function aRun(change: Partial<Run> = {}): Run {
  return {
    run_id: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d",
    job: "billing/report",
    version: 1,
    attempt: 1,
    status: "succeeded",
    cause: "schedule",
    fire_time: at(0),
    started_at: at(0),
    finished_at: at(1),
    count: 1,
    ...change,
  };
}

export function aLine(seq: number, change: Partial<LogLine> = {}): LogLine {
  return {
    run_id: "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d",
    job: "billing/report",
    attempt: 1,
    seq,
    at: at(seq),
    level: "info",
    output: "stdout",
    text: `line ${seq}`,
    ...change,
  };
}

export const lines = (from: number, to: number): LogLine[] =>
  Array.from({ length: to - from + 1 }, (_, i) => aLine(from + i));
