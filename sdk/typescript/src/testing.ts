/**
 * Run a handler in a unit test, without a broker.
 *
 *     const end = await runHandler(app, "report", { region: "north" });
 *     assert.equal(end.status, "succeeded");
 */

import { randomUUID } from "node:crypto";

import { PATIENCE } from "./attempt";
import { captureConsole } from "./console";
import { Cancelled, type Ending, shown, TimedOut } from "./errors";
import type { Executor } from "./executor";
import { parse, stringify } from "./json";
import { abandoned, type Did, isUnexpected, outcomeOf, type Status } from "./outcome";
import { type Progress, Run, within } from "./run";
import { RunLog } from "./runlog";
import { masker } from "./secrets";
import type { Wish } from "./starts";
import { milliseconds, pause } from "./time";
import { type RawTrigger, Trigger } from "./trigger";

/** What a test may say of the run. */
export interface TestRun {
  attempt?: number;
  piece?: { index: number; total: number };
  item?: unknown;
  split?: boolean;
  /** A duration: after it the run's signal is aborted with a TimedOut. */
  timeout?: string;
  /** Aborts the run's signal with a Cancelled. */
  cancel?: AbortSignal;
  /** The instant that the schedule named. Defaults to now. */
  fireTime?: Date;
  /** Why the run is there. Defaults to "schedule", and to "step" for a step. */
  cause?: string;
  /** The step of a workflow that it does. */
  step?: string;
  /** By variable. */
  secrets?: Record<string, string>;
  job?: string;
}

/** How a run ended, and what it said. */
export interface End {
  status: Status;
  message: string;
  /** The result as JSON has it. */
  result: unknown;
  /** Whether it ended by a Final. */
  final: boolean;
  /** In milliseconds, if it ended by a RetryAfter. */
  retryAfter: number | undefined;
  /** The lines of its log. */
  lines: string[];
  progress: Progress[];
  /** The runs that the handler wanted to start. */
  started: Wish[];
}

/**
 * Do one run with a handler of the executor, as an instance would. A handler that ignores its signal
 * is left behind after 10 s.
 */
export async function runHandler(app: Executor, handler: string, params?: unknown, options: TestRun = {}): Promise<End> {
  const h = app.handlers.get(handler);
  if (h === undefined) {
    throw new Error(`there is no handler ${JSON.stringify(handler)}; there are ${[...app.handlers.keys()].join(", ") || "none"}`);
  }
  const secrets = options.secrets ?? {};
  const lines: string[] = [];
  const progress: Progress[] = [];
  const log = new RunLog(async (batch) => void lines.push(...batch.map((line) => line.text)), 1);
  log.mask = masker(secrets);
  const controller = new AbortController();
  const trigger = new Trigger(parse(stringify(rawOf(handler, params, options))) as RawTrigger, "");
  const started: Wish[] = [];
  const state = {
    trigger,
    log,
    instance: "test",
    fence: 65_537,
    signal: () => controller.signal,
    onProgress: (p: Progress) => void progress.push(p),
    start: async (wish: Wish) => {
      started.push(wish);
      return randomUUID();
    },
  };
  const work = async (): Promise<Did> => {
    try {
      const run = new Run(state, { params: await h.params(trigger.raw.params), secrets, traceParent: "" });
      return { value: await within(run, log, () => h.call(run, app.middleware)) };
    } catch (error) {
      return { error };
    }
  };
  const patience = new AbortController();
  const end = endings(controller, options);
  const release = captureConsole();
  const did = await Promise.race([work(), ignored(controller.signal, patience.signal)]);
  release();
  end();
  patience.abort(null);
  if ("error" in did && isUnexpected(did.error)) {
    log.add("stderr", "error", shown(did.error));
  }
  const ending = controller.signal.aborted ? (controller.signal.reason as Ending) : undefined;
  const outcome = outcomeOf(did, ending, true, log.mask);
  await log.close();
  return {
    status: outcome.status as Status, // it is never given back: nothing stops
    message: [log.mask(outcome.message), log.note].filter(Boolean).join("; "),
    result: outcome.result,
    final: outcome.final ?? false,
    retryAfter: outcome.retryAfter,
    lines,
    progress,
    started,
  };
}

function rawOf(handler: string, params: unknown, options: TestRun) {
  const now = new Date().toISOString();
  return {
    run_id: randomUUID(),
    job: options.job ?? "test/job",
    version: 1,
    shard: 0,
    attempt: options.attempt ?? 1,
    cause: options.cause ?? (options.step ? "step" : "schedule"),
    step: options.step,
    fire_time: options.fireTime?.toISOString() ?? now,
    committed_at: now,
    ...(options.piece && { broadcast_index: options.piece.index, broadcast_total: options.piece.total }),
    item: options.item,
    split: options.split,
    task: { handler },
    params,
  };
}

/** What is said of a handler that ignores its signal, once it has been for a while. */
async function ignored(signal: AbortSignal, over: AbortSignal): Promise<Did> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  await pause(PATIENCE, over);
  return { error: abandoned(PATIENCE) };
}

/** Abort the run when a test says so, until the returned function is called. */
function endings(controller: AbortController, { timeout, cancel }: TestRun): () => void {
  const cancelled = () => controller.abort(new Cancelled("cancelled by the test"));
  const late = () => controller.abort(new TimedOut(`took longer than its timeout of ${timeout}`));
  const timer = timeout === undefined ? undefined : setTimeout(late, milliseconds(timeout));
  cancel?.addEventListener("abort", cancelled);
  if (cancel?.aborted) {
    cancelled();
  }
  return () => {
    clearTimeout(timer);
    cancel?.removeEventListener("abort", cancelled);
  };
}
