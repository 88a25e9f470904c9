/** What becomes of an attempt. */

import { Ending, Failure, Final, RetryAfter, Stopping, saidBy, TimedOut } from "./errors";
import { encodeResult } from "./json";
import { Unfinished } from "./unfinished";

export type Status = "succeeded" | "failed" | "timed_out" | "cancelled" | "lost" | "missed";

export interface Outcome {
  /** "" gives the attempt back to the group. */
  status: Status | "";
  message: string;
  result?: unknown;
  /** No attempt may follow. */
  final?: boolean;
  /** In milliseconds. */
  retryAfter?: number;
}

/** What a handler did: it returned a value, or threw an error. */
export type Did = { value: unknown } | { error: unknown };

const LOST = "the executor stopped before the run could end, and delivery at_most_once forbids to run it again";

/** What is said of a handler that ignores its signal for so many milliseconds. */
export function abandoned(patience: number): Failure {
  return new Failure(`the handler did not stop within ${patience / 1000}s and was abandoned`);
}

/** Why a run had to end, and what its handler had to say. */
function join(why: string, did: Did): string {
  const said = "error" in did && !isAbort(did.error) ? saidBy(did.error) : "";
  return said === "" ? why : `${why}; ${said}`;
}

/** The outcome of what a handler did; ending is why it had to end, if it had to. What is not repeatable is lost instead of given back. */
export function outcomeOf(did: Did, ending: Ending | undefined, repeatable: boolean, mask: (text: string) => string): Outcome {
  if (ending instanceof Stopping && "error" in did) {
    return repeatable ? { status: "", message: "" } : { status: "lost", message: join(LOST, did) };
  }
  if (ending !== undefined && !(ending instanceof Stopping)) {
    return { status: ending instanceof TimedOut ? "timed_out" : "cancelled", message: join(ending.message, did) };
  }
  if ("error" in did) {
    return failure(did.error);
  }
  try {
    const { value, note } = encodeResult(did.value, mask);
    return { status: "succeeded", message: note, result: value };
  } catch (error) {
    if (error instanceof Unfinished) {
      return failure(error);
    }
    throw error;
  }
}

function failure(error: unknown): Outcome {
  return {
    status: "failed",
    message: saidBy(error),
    ...(error instanceof Final && { final: true }),
    ...(error instanceof RetryAfter && { retryAfter: error.delay }),
  };
}

/** Whether an error is worth its stack: not what handlers throw on purpose. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof Final || error instanceof RetryAfter || error instanceof Failure || isAbort(error));
}

/** Whether an error only says that the signal was aborted. */
function isAbort(error: unknown): boolean {
  try {
    return error instanceof Ending || (error instanceof Error && error.name === "AbortError");
  } catch {
    return false; // it cannot say
  }
}
