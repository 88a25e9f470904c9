/** One attempt, from its trigger to its acknowledgement. */

import { Claim, Dropped } from "./claim";
import { Cancelled, type Ending, shown, TimedOut, textOf } from "./errors";
import { Events } from "./events";
import type { Instance } from "./instance";
import { abandoned, type Did, isUnexpected, type Outcome, outcomeOf } from "./outcome";
import { type Progress, Run, within } from "./run";
import { RunLog } from "./runlog";
import { fetchSecrets, masker } from "./secrets";
import { ask, type Wish } from "./starts";
import type { Span } from "./telemetry";
import { clock, monotonic } from "./time";
import type { Trigger } from "./trigger";
import { cut, delivery, giveBack } from "./wire";

const SIGN_OF_LIFE = 4000;
const STARTED_AFTER = 1000;
const PROGRESS_EVERY = 1000;
export const PATIENCE = 10_000; // how long a handler may take to end once its signal is aborted

export class Attempt {
  readonly runLog: RunLog;
  private readonly came = clock.now();
  private readonly events: Events;
  private ending: Ending | undefined; // why it has to end
  private controller: AbortController | undefined; // made when the handler asks for the signal
  private began = 0; // when the time of the attempt began to run
  private deadline: { at: number; why: Ending } | undefined;
  private killed: Cancelled | undefined; // by a kill that came when it had to end anyhow
  private endedAt = 0; // when it was told to end
  private over = false; // its end is being reported
  private sign = monotonic();
  private toldStarted = false;
  private progress: Progress | undefined;
  private progressed = 0;
  private warned = false;
  private claim: Claim | undefined;
  private called = false; // its handler was: it must not be again, if the attempt is at_most_once
  private span: Span | undefined;

  constructor(
    private readonly of: Instance,
    readonly trigger: Trigger,
    /** Where the trigger is answered: the newest delivery. */
    public reply: string,
    private readonly routeReason = "",
  ) {
    this.events = new Events(of, trigger, this.came);
    this.runLog = new RunLog((lines) => this.events.lines(lines), trigger.delivered, { ...of.settings.logLimits });
  }

  /** Do the work, in the background. */
  start(): void {
    // It throws if what the handler threw cannot even be looked at.
    this.of.spawn(this.work().catch((e: unknown) => this.finish({ status: "failed", message: `its end cannot be told: ${textOf(e)}` })));
  }

  /** End an attempt that was not begun. */
  conclude(outcome: Outcome): void {
    this.finish(outcome);
  }

  /** Have the run end. */
  end(why: Ending): void {
    if (this.ending === undefined && !this.over) {
      this.endedAt = monotonic();
      this.ending = why;
      this.controller?.abort(why);
    } else if (why instanceof Cancelled) {
      this.killed ??= why;
    }
  }

  /** Say that the attempt lives, and what else is due. To be called ten times a second. */
  look(): void {
    const now = monotonic();
    if (now - this.sign >= SIGN_OF_LIFE) {
      this.sign = now;
      this.of.bus.publish(this.reply, "+WPI");
    }
    if (this.over || this.events.startedAt === undefined) {
      return;
    }
    if (this.deadline !== undefined && now >= this.deadline.at) {
      this.end(this.deadline.why);
    }
    if (now - this.began >= STARTED_AFTER && (this.claim !== undefined || !this.trigger.atMostOnce)) {
      this.tellStarted();
      this.tellProgress(now);
    }
    const { warnAfter, raw } = this.trigger;
    if (warnAfter > 0 && !this.warned && now - this.began > warnAfter) {
      this.warned = true;
      this.runLog.system("warn", `the attempt takes longer than ${raw.warn_after}`);
    }
    if (this.ending !== undefined && now - this.endedAt > PATIENCE) {
      this.of.leaveBehind(this.trigger);
      this.finishBy({ error: abandoned(PATIENCE) });
    }
  }

  private tellStarted(): void {
    if (!this.toldStarted) {
      this.toldStarted = true;
      this.events.started(this.routeReason);
    }
  }

  private tellProgress(now: number): void {
    if (this.progress !== undefined && now - this.progressed >= PROGRESS_EVERY) {
      this.events.progress(this.progress);
      this.progress = undefined;
      this.progressed = now;
    }
  }

  private get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.ending !== undefined) {
        this.controller.abort(this.ending);
      }
    }
    return this.controller.signal;
  }

  // --- the handler

  private async work(): Promise<void> {
    let did: Did;
    try {
      did = { value: await this.callHandler() };
    } catch (error) {
      if (error instanceof Dropped && !this.over) {
        this.of.attempts.settled(this, false); // without an answer
        return;
      }
      did = { error };
    }
    if (this.over) {
      return; // it was left behind
    }
    this.of.blocked.look();
    if ("error" in did && isUnexpected(did.error)) {
      this.runLog.add("stderr", "error", shown(did.error));
    }
    this.finishBy(did);
  }

  private async callHandler(): Promise<unknown> {
    this.begin();
    const secrets = await fetchSecrets(this.of.bus, this.of.settings.secretKey, this.of.group, this.trigger.raw.task.secrets ?? {});
    this.runLog.mask = masker(secrets);
    const handler = this.of.handlers.get(this.trigger.handler);
    if (handler === undefined) {
      throw new Error(`BUG: no handler ${this.trigger.handler}`);
    }
    const params = await handler.params(this.trigger.raw.params);
    this.throwIfEnding();
    if (this.trigger.atMostOnce) { // last, since what is claimed and then given back is lost
      const claim = new Claim(this.of.bus, this.trigger, this.of.name);
      await claim.take(this.signal);
      this.claim = claim;
      this.throwIfEnding();
    }
    const span = this.of.telemetry.span(this.trigger);
    this.span = span;
    this.of.blocked.begins(handler.name);
    this.called = true;
    const run = new Run(this.state(), { params, secrets, traceParent: span.traceParent });
    return await within(run, this.runLog, () => span.within(() => handler.call(run, this.of.middleware)));
  }

  private throwIfEnding(): void {
    if (this.ending !== undefined) {
      throw this.ending;
    }
  }

  /** The attempt has started: its time runs. */
  private begin(): void {
    this.events.startedAt = clock.now();
    this.began = monotonic();
    const { timeout, endBy, raw } = this.trigger;
    if (timeout > 0) {
      this.deadline = { at: this.began + timeout, why: new TimedOut(`took longer than its timeout of ${raw.timeout}`) };
    }
    const left = endBy === undefined ? Number.POSITIVE_INFINITY : endBy.getTime() - clock.now().getTime();
    if (endBy !== undefined && this.began + left < (this.deadline?.at ?? Number.POSITIVE_INFINITY)) {
      this.deadline = { at: this.began + left, why: new TimedOut(`the run had to end by ${endBy.toISOString()}, with all its attempts`) };
    }
    if (this.routeReason !== "") {
      this.tellStarted();
    }
  }

  private state() {
    const { count, sequence } = delivery(this.reply);
    return {
      trigger: this.trigger,
      log: this.runLog,
      instance: this.of.name,
      fence: sequence * 65_536 + Math.min(count, 65_535),
      signal: () => this.signal,
      onProgress: (progress: Progress) => {
        this.progress = progress;
      },
      start: (wish: Wish) => ask(this.of.bus, this.of.group, this.trigger.token, this.reply, wish),
    };
  }

  // --- the end

  private finishBy(did: Did): void {
    this.finish(outcomeOf(did, this.ending, !(this.trigger.atMostOnce && this.called), this.runLog.mask));
  }

  private finish(outcome: Outcome): void {
    if (this.killed !== undefined && (outcome.status === "" || outcome.status === "lost")) {
      outcome = { status: "cancelled", message: this.killed.message };
    }
    this.over = true;
    const masked = { ...outcome, message: cut(this.runLog.mask(outcome.message)) };
    this.span?.end(masked);
    this.of.telemetry.ended(this.trigger, masked, { came: this.came, started: this.events.startedAt, ended: clock.now() });
    this.of.spawn(masked.status === "" ? this.giveBack() : this.report(masked));
  }

  private async giveBack(): Promise<void> {
    this.runLog.system("warn", "the executor is stopping; the run is given back, to be done again elsewhere");
    await this.runLog.close();
    if (this.killed !== undefined) {
      this.finish({ status: "", message: "" });
      return;
    }
    this.giveUpLines();
    this.of.attempts.giveBack(this.reply, giveBack(this.trigger.delivered));
    this.of.attempts.settled(this, false);
  }

  private async report(outcome: Outcome): Promise<void> {
    const finished = clock.now();
    if (outcome.status !== "succeeded") {
      this.runLog.end(outcome.status, outcome.message);
    }
    const lines = await this.runLog.close();
    const message = cut([outcome.message, this.runLog.note].filter(Boolean).join("; "));
    const stored = await this.events.finished({ ...outcome, message }, finished, lines);
    this.giveUpLines();
    if (stored) {
      this.of.bus.publish(this.reply, "+ACK");
    }
    this.of.attempts.settled(this, stored);
    if (stored) {
      await this.claim?.release();
    }
  }

  private giveUpLines(): void {
    this.runLog.abandon();
    this.of.telemetry.count("log_lines_dropped", this.runLog.dropped);
  }
}
