/** A handler that computes for long without a pause keeps everything else in the program from going on. */

import type { Attempt } from "./attempt";
import type { Logger } from "./log";
import { monotonic } from "./time";

const TOLERABLE = 2000;

/** Notices that the event loop stood still. */
export class Blocked {
  private last = monotonic();

  constructor(private readonly log: Logger) {}

  /** To be called every so many milliseconds. */
  look(every: number, live: Iterable<Attempt>): void {
    const now = monotonic();
    const stood = now - this.last - every;
    this.last = now;
    if (stood < TOLERABLE) {
      return;
    }
    const attempts = [...live];
    const text = `the event loop was blocked for ${(stood / 1000).toFixed(1)} s`;
    const handlers = [...new Set(attempts.map((a) => a.trigger.handler))].sort().join(", ") || "none";
    this.log.warn(
      `${text}, in which this executor could neither report nor be cancelled (handlers at work: ${handlers}). After 15 s its runs are given to ` +
        "other instances. Move long computations into a worker thread (node:worker_threads), or await setImmediate between their steps",
    );
    for (const attempt of attempts) {
      attempt.runLog.system("warn", `${text}: a handler of this program computes without a pause`);
    }
  }
}
