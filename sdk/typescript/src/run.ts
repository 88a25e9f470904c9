/** A run, as its handler sees it. */

import { AsyncLocalStorage } from "node:async_hooks";

import type { Ending } from "./errors";
import { Logger } from "./log";
import type { RunLog } from "./runlog";
import { type StartOptions, type Wish, Wishes } from "./starts";
import type { Trigger } from "./trigger";
import { cut } from "./wire";

const current = new AsyncLocalStorage<{ run: Run; log: RunLog }>();

/** The run whose handler calls, also from what it awaits. */
export function currentRun(): Run | undefined {
  return current.getStore()?.run;
}

/** The log of that run. */
export function currentLog(): RunLog | undefined {
  return current.getStore()?.log;
}

/** Call a function as a part of the run. */
export function within<T>(run: Run, log: RunLog, work: () => T): T {
  return current.run({ run, log }, work);
}

export interface Progress {
  percent: number;
  text: string;
}

/** What an executor knows of a run. */
export interface RunState {
  trigger: Trigger;
  log: RunLog;
  instance: string;
  /** Greater than for every earlier attempt and delivery: a fencing token. */
  fence: number;
  signal: () => AbortSignal;
  onProgress: (progress: Progress) => void;
  /** Has a server start a run, and returns its id. */
  start: (wish: Wish) => Promise<string>;
}

/** One attempt of a run. */
export class Run<Params = unknown> {
  /** The parameters, as the handler's schema has them, else as JSON has them. */
  readonly params: Params;
  /** Makes lines of the run's log. */
  readonly log: Logger;
  /** The secrets of the job's task, by variable. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The W3C trace context of the attempt, for what it calls; "" when nobody traces. */
  readonly traceParent: string;
  private readonly wishes = new Wishes();

  /** @internal */
  constructor(
    private readonly state: RunState,
    more: { params: Params; secrets: Record<string, string>; traceParent: string },
  ) {
    this.params = more.params;
    this.secrets = more.secrets;
    this.traceParent = more.traceParent;
    this.log = new Logger((level, text) => state.log.add("log", level, text));
  }

  /** Aborted when the run has to end; its reason is a TimedOut, Cancelled or Stopping. */
  get signal(): AbortSignal {
    return this.state.signal();
  }

  get id(): string {
    return this.state.trigger.runId;
  }

  get job(): string {
    return this.state.trigger.raw.job;
  }

  /** Counts the tries of the run, from 1. */
  get attempt(): number {
    return this.state.trigger.raw.attempt;
  }

  /** Counts how often this attempt has reached an executor, from 1. */
  get delivered(): number {
    return this.state.trigger.delivered;
  }

  /** The instant that the schedule named. Lateness and retries do not move it. */
  get fireTime(): Date {
    return this.state.trigger.fireTime;
  }

  get cause(): string {
    return this.state.trigger.raw.cause ?? "";
  }

  /** The name of the workflow's step that this run does; "" if it does none. */
  get step(): string {
    return this.state.trigger.raw.step ?? "";
  }

  /** Which piece of how many; 0 of 1 in a run without pieces. */
  get piece(): { index: number; total: number } {
    return { index: this.state.trigger.index, total: Math.max(this.state.trigger.total, 1) };
  }

  /** What this piece of a split run is about. */
  get item(): unknown {
    return this.state.trigger.raw.item;
  }

  /** Whether this attempt lists the run's pieces, as its result, instead of its work. */
  get split(): boolean {
    return this.state.trigger.raw.split === true;
  }

  get instance(): string {
    return this.state.instance;
  }

  /** A number greater than for every earlier attempt and delivery, to fence writes with. */
  get fence(): number {
    return this.state.fence;
  }

  /**
   * Wait until the lines logged so far are stored, for as long as NATS takes lines. For handlers that
   * log thousands of lines at once: what waits has a bound, beyond which the oldest lines are dropped.
   */
  async flush(): Promise<void> {
    await this.state.log.flush();
  }

  /**
   * Start a run of a job of the group, with params in the place of the job's, and return its id. Its parent is
   * this run.
   *
   * A further attempt of this run that starts the same job with the same params gets the run that was started
   * before. So give params that are the same in each attempt, without the time of day. Two such calls within
   * an attempt start two runs. It throws StartRefused, after a minute if no server answers.
   */
  async start(job: string, params?: unknown, options: StartOptions = {}): Promise<string> {
    return await this.state.start(this.wishes.next(job, params, options));
  }

  /** Why the run has to end; undefined while it need not. */
  get ending(): Ending | undefined {
    return this.signal.aborted ? (this.signal.reason as Ending) : undefined;
  }

  /** Say how far the run is. The latest is published, at most once a second. */
  progress(percent: number, text = ""): void {
    const bounded = Math.min(Math.max(Number(percent) || 0, 0), 100);
    this.state.onProgress({ percent: bounded, text: cut(this.state.log.mask(text)) });
  }
}
