/** What handlers throw, and why a run is told to end. */

import { inspect } from "node:util";

import { milliseconds } from "./time";

/** A setting is wrong. The message names it and says what would be right. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}

/** Another instance of this name lives. */
export class ConflictError extends Error {
  override name = "ConflictError";
}

/** Throw it when no attempt may follow, whatever the job's retry rule says. */
export class Final extends Error {
  override name = "Final";
}

/**
 * Throw it when you know when another try makes sense: `new RetryAfter("90s", "the API is busy")`.
 * The delay is a duration, or seconds, at most seven days. The job's rule still says whether there
 * is another attempt.
 */
export class RetryAfter extends Error {
  override name = "RetryAfter";
  /** In milliseconds. */
  readonly delay: number;

  constructor(delay: string | number, message = "", options?: ErrorOptions) {
    super(message || "another attempt makes sense later", options);
    const wanted = typeof delay === "number" ? delay * 1000 : milliseconds(delay);
    this.delay = Math.min(Math.max(wanted, 0) || 0, 7 * 24 * 3600 * 1000);
  }
}

/** A run was not started. */
export class StartRefused extends Error {
  override name = "StartRefused";

  constructor(
    /** `invalid`, `not_found`, `conflict`, `too_many` or `unavailable`. */
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

/** Why a run fails, in words that need no class in front. */
export class Failure extends Error {
  override name = "Failure";
}

/** Why a run has to end: the reason of its signal. See the classes below. */
export class Ending extends Error {
  override name = "Ending";
}

/** The run took longer than its timeout. */
export class TimedOut extends Ending {
  override name = "TimedOut";
}

/** Somebody cancelled the run. */
export class Cancelled extends Ending {
  override name = "Cancelled";
}

/** The executor stops. A run that throws now is given back, and another instance does it. */
export class Stopping extends Ending {
  override name = "Stopping";
}

/** The text of whatever was thrown; the name of its type if it cannot say. It never throws. */
export function textOf(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message || thrown.name : thrown);
  } catch {
    return typeOf(thrown);
  }
}

const PARTS = 10; // of an AggregateError that are named

/** What is said of a handler that failed: its error's text with its class in front, and the parts of one that has several. It never throws. */
export function saidBy(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error) || thrown instanceof Final || thrown instanceof RetryAfter || thrown instanceof Ending || thrown instanceof Failure) {
      return textOf(thrown);
    }
    const name = thrown.name === "Error" ? typeOf(thrown) : thrown.name;
    const said = name === "Error" ? textOf(thrown) : [name, thrown.message].filter(Boolean).join(": ");
    if (!(thrown instanceof AggregateError)) {
      return said;
    }
    const parts = thrown.errors.slice(0, PARTS).map(saidBy);
    return `${said}: ${[...parts, ...(thrown.errors.length > PARTS ? ["…"] : [])].join("; ")}`;
  } catch {
    return textOf(thrown);
  }
}

/** What was thrown, with its stack and causes; the name of its type if it cannot say. It never throws. */
export function shown(thrown: unknown): string {
  try {
    return inspect(thrown);
  } catch {
    return typeOf(thrown);
  }
}

function typeOf(thrown: unknown): string {
  try {
    return String(Object.getPrototypeOf(thrown).constructor.name);
  } catch {
    return "something that has no text";
  }
}
