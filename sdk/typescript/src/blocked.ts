/** A handler that computes for long without a pause keeps everything else in the program from going on. */

import { Worker } from "node:worker_threads";

import type { Attempt } from "./attempt";
import { textOf } from "./errors";
import type { Logger } from "./log";
import { monotonic } from "./time";
import { ACK_WAIT, HEARTBEAT_EVERY } from "./wire";

const EVERY = 100;
const TOLERABLE = 2000;
const ALARM = 8000; // well before the 15 s after which others get the runs
/** After so long the last heartbeat may be forgotten: others may take the instance for dead. */
export const LOST = ACK_WAIT - HEARTBEAT_EVERY;
const ADVICE =
  "After 15 s its runs are given to other instances. Move long computations into a worker thread (node:worker_threads), " +
  "or await setImmediate between their steps";

/** A thread of its own. It is a text, for bundlers rewrite what a function requires, and nothing of this module is there. */
const ALARM_SOURCE = `
const { workerData } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { turns, handler, after, advice } = workerData;
let seen = -1;
let since = performance.now();
let said = false;
setInterval(() => {
  const turn = Atomics.load(turns, 0);
  if (turn !== seen) {
    seen = turn;
    since = performance.now();
    said = false;
  } else if (!said && performance.now() - since > after) {
    said = true;
    const name = Buffer.from(handler).toString().replaceAll("\\0", "") || "none";
    const text = "the event loop has been blocked for " + Math.round(after / 1000) + " s (the last run that began is of handler " + name + ")";
    writeSync(2, new Date().toISOString() + " WARN carillon: " + text + ". " + advice + "\\n");
  }
}, after / 8);
`;

/** Notices that the event loop stands still, and says so even if it never goes on. */
export class Blocked {
  private last = 0;
  private timer: NodeJS.Timeout | undefined;
  private alarm: Worker | undefined;
  private begun = "";
  private readonly turns = new Int32Array(new SharedArrayBuffer(4));
  private readonly handler = new Uint8Array(new SharedArrayBuffer(256));

  constructor(
    private readonly log: Logger,
    private readonly live: ReadonlyMap<string, Attempt>,
    /** Called with how long it stood still, in milliseconds. */
    private readonly onStood: (ms: number) => void = () => {},
  ) {}

  start(alarmAfter = ALARM): void {
    this.last = monotonic();
    this.timer = setInterval(() => this.look(), EVERY);
    const workerData = { turns: this.turns, handler: this.handler, after: alarmAfter, advice: ADVICE };
    this.alarm = new Worker(ALARM_SOURCE, { eval: true, workerData });
    this.alarm.unref();
    this.alarm.on("error", (e) => this.log.warn(`nothing warns while the event loop is blocked: its watching thread ended: ${textOf(e)}`));
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.alarm?.terminate();
  }

  /** A handler is about to be called. */
  begins(handler: string): void {
    if (handler === this.begun) {
      return;
    }
    this.begun = handler;
    this.handler.fill(0);
    new TextEncoder().encodeInto(handler, this.handler);
  }

  /**
   * Look at the clock. To be called by handlers that end, too: their logs are open still. And before what comes is
   * taken: it may have waited.
   */
  look(): void {
    Atomics.add(this.turns, 0, 1);
    const now = monotonic();
    const stood = this.last === 0 ? 0 : now - this.last - EVERY;
    this.last = now;
    if (stood > TOLERABLE) {
      this.say(`the event loop was blocked for ${(stood / 1000).toFixed(1)} s`, [...this.live.values()], stood >= LOST);
      this.onStood(stood);
    }
  }

  private say(text: string, attempts: Attempt[], lost: boolean): void {
    const handlers = [...new Set(attempts.map((a) => a.trigger.handler))].sort().join(", ") || "none";
    const given = lost ? "; its runs may have been given to other instances" : "";
    this.log.warn(`${text}, in which this executor could neither report nor be cancelled${given} (handlers at work: ${handlers}). ${ADVICE}`);
    for (const attempt of attempts) {
      attempt.runLog.system("warn", `${text}: a handler of this program computes without a pause`);
    }
  }
}

