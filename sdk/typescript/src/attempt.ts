/** One attempt, from its trigger to its acknowledgement. */

import { inspect } from "node:util";

import { Claim, Dropped } from "./claim";
import { Cancelled, type Ending, TimedOut } from "./errors";
import type { Instance } from "./instance";
import { type Did, isUnexpected, type Outcome, outcomeOf } from "./outcome";
import { type Progress, Run, within } from "./run";
import { type Line, RunLog } from "./runlog";
import { masker, openSecret } from "./secrets";
import type { Span } from "./telemetry";
import { duration, monotonic } from "./time";
import type { Trigger } from "./trigger";
import { cut, delivery, giveBack, MESSAGE, MSG_ID, TOKEN } from "./wire";

const SIGN_OF_LIFE = 4000;
const STARTED_AFTER = 1000;
const PROGRESS_EVERY = 1000;
export const PATIENCE = 10_000; // how long a handler may take to end once its signal is aborted

export class Attempt {
  readonly runLog: RunLog;
  private readonly came = new Date();
  private began = 0; // when the time of the attempt began to run
  private readonly controller = new AbortController();
  private started: Date | undefined;
  private sign = monotonic();
  private toldStarted = false;
  private progress: Progress | undefined;
  private progressed = 0;
  private warned = false;
  private deadline: { at: number; why: Ending } | undefined;
  private endedAt = 0; // when it was told to end
  private over = false; // its end is being reported
  private claim: Claim | undefined;
  private span: Span | undefined;

  constructor(
    private readonly of: Instance,
    readonly trigger: Trigger,
    /** Where the trigger is answered: the newest delivery. */
    public reply: string,
    private readonly routeReason = "",
  ) {
    this.runLog = new RunLog((lines) => this.sendLines(lines), trigger.delivered, { ...of.settings.logLimits });
  }

  // --- what the loop of the instance calls

  /** Say that the attempt lives, and what else is due. */
  look(): void {
    const now = monotonic();
    if (now - this.sign >= SIGN_OF_LIFE) {
      this.sign = now;
      this.of.bus.publish(this.reply, "+WPI");
    }
    if (this.over || this.started === undefined) {
      return;
    }
    if (this.deadline !== undefined && now >= this.deadline.at) {
      this.end(this.deadline.why);
    }
    if (now - this.began >= STARTED_AFTER) {
      this.tellStarted();
      this.tellProgress(now);
    }
    const { warnAfter, raw } = this.trigger;
    if (warnAfter > 0 && !this.warned && now - this.began > warnAfter) {
      this.warned = true;
      this.runLog.system("warn", `the attempt takes longer than ${raw.warn_after}`);
    }
    if (this.endedAt > 0 && now - this.endedAt > PATIENCE) {
      this.leaveBehind();
    }
  }

  /** Do the work, in the background. */
  start(): void {
    this.of.spawn(this.work());
  }

  /** Have the run end. */
  end(why: Ending): void {
    if (!this.controller.signal.aborted && !this.over) {
      this.endedAt = monotonic();
      this.controller.abort(why);
    }
  }

  /** End an attempt that was not begun. */
  conclude(outcome: Outcome): void {
    this.finish(outcome);
  }

  // --- the handler

  private async work(): Promise<void> {
    let did: Did;
    try {
      did = { value: await this.callHandler() };
    } catch (error) {
      if (error instanceof Dropped) {
        this.over = true;
        this.of.settled(this, false); // without an answer
        return;
      }
      did = { error };
    }
    if (this.over) {
      return; // it was left behind
    }
    if ("error" in did && isUnexpected(did.error)) {
      this.runLog.add("stderr", "error", inspect(did.error));
    }
    this.finish(outcomeOf(did, this.ending, this.trigger.atMostOnce, this.runLog.mask));
  }

  private async callHandler(): Promise<unknown> {
    if (this.trigger.atMostOnce) {
      this.claim = new Claim(this.of.bus, this.trigger, this.of.name);
      await this.claim.take();
    }
    this.begin();
    const secrets = await this.openSecrets();
    this.runLog.mask = masker(secrets);
    const handler = this.of.handlers.get(this.trigger.handler);
    if (handler === undefined) {
      throw new Error(`BUG: no handler ${this.trigger.handler}`);
    }
    const params = await handler.params(this.trigger.raw.params);
    this.controller.signal.throwIfAborted();
    const span = this.of.telemetry.span(this.trigger);
    this.span = span;
    const run = new Run(this.state(), { params, secrets, traceParent: span.traceParent });
    return await within(run, this.runLog, () => span.within(() => handler.call(run, this.of.middleware)));
  }

  /** The attempt has started: its time runs. */
  private begin(): void {
    this.started = new Date();
    this.began = monotonic();
    const { timeout, endBy, raw } = this.trigger;
    if (timeout > 0) {
      this.deadline = { at: this.began + timeout, why: new TimedOut(`took longer than its timeout of ${raw.timeout}`) };
    }
    const left = endBy === undefined ? Number.POSITIVE_INFINITY : endBy.getTime() - Date.now();
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
      signal: this.controller.signal,
      onProgress: (progress: Progress) => {
        this.progress = progress;
      },
    };
  }

  private async openSecrets(): Promise<Record<string, string>> {
    const secrets: Record<string, string> = {};
    for (const [variable, name] of Object.entries(this.trigger.raw.task.secrets ?? {})) {
      secrets[variable] = await this.openSecret(name);
    }
    return secrets;
  }

  private async openSecret(name: string): Promise<string> {
    const { bus, group, settings } = this.of;
    if (settings.secretKey === undefined) {
      throw new Error("the task asks for secrets, and this executor has no key for them: set CARILLON_SECRET_KEY_FILE");
    }
    const m = await bus.request(`$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET.${group}.${name}`, "");
    if (m.data.length === 0) {
      throw new Error(`there is no secret ${JSON.stringify(name)} in group ${group}: carillon secret set ${name} -g ${group}`);
    }
    try {
      return openSecret(settings.secretKey, group, name, JSON.parse(m.string()).sealed);
    } catch {
      throw new Error(`secret ${JSON.stringify(name)} does not open with this executor's key: it may be sealed with another master key`);
    }
  }

  private get ending(): Ending | undefined {
    return this.controller.signal.aborted ? (this.controller.signal.reason as Ending) : undefined;
  }

  private leaveBehind(): void {
    const why = this.ending ?? new Cancelled("cancelled");
    this.of.abandoned(this.trigger);
    this.finish(outcomeOf({ error: why }, why, this.trigger.atMostOnce, this.runLog.mask));
  }

  // --- the end

  private finish(outcome: Outcome): void {
    this.over = true;
    const masked = { ...outcome, message: cut(this.runLog.mask(outcome.message)) };
    this.span?.end(masked);
    this.of.telemetry.ended(this.trigger, masked, { came: this.came, started: this.started, ended: new Date() });
    this.of.spawn(masked.status === "" ? this.giveBack() : this.report(masked));
  }

  private async giveBack(): Promise<void> {
    this.runLog.system("warn", "the executor is stopping; the run is given back, to be done again elsewhere");
    await this.runLog.close();
    this.runLog.abandon();
    this.of.bus.publish(this.reply, giveBack(this.trigger.delivered));
    this.of.settled(this, false);
  }

  private async report(outcome: Outcome): Promise<void> {
    const finished = new Date();
    if (outcome.status !== "succeeded") {
      this.runLog.system("error", `the run ended as ${outcome.status}: ${outcome.message}`);
    }
    const lines = await this.runLog.close();
    const event = {
      ...this.about("finished", finished),
      finished_at: finished.toISOString(),
      status: outcome.status,
      ...(outcome.message && { message: outcome.message }),
      ...(outcome.result !== undefined && { result: outcome.result }),
      ...(lines > 0 && { log_lines: lines }),
      ...(outcome.final && { final: true }),
      ...(outcome.retryAfter !== undefined && { retry_after: duration(outcome.retryAfter) }),
      ...(this.anotherFollows(outcome) && { retry: true }),
    };
    await this.store(JSON.stringify(event));
    this.of.bus.publish(this.reply, "+ACK");
    this.runLog.abandon();
    this.of.telemetry.count("log_lines_dropped", this.runLog.dropped);
    this.of.settled(this, true);
    await this.claim?.release();
  }

  private anotherFollows(outcome: Outcome): boolean {
    const lists = this.trigger.raw.split === true && outcome.status === "succeeded";
    return !outcome.final && (lists || this.trigger.again(outcome.status));
  }

  /** Publish the end until it is stored, and keep it on disk so long. */
  private async store(data: string): Promise<void> {
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId("finished") };
    const forget = await this.of.spool.keep(this.eventSubject, data, headers);
    if (await this.of.bus.untilStored(this.eventSubject, data, headers, { onRepeat: () => this.of.telemetry.count("event_publish_retries") })) {
      await forget();
    }
  }

  // --- messages

  private get eventSubject(): string {
    return `evt.${this.trigger.raw.shard}.${this.of.group}`;
  }

  private tellStarted(): void {
    if (!this.toldStarted) {
      this.toldStarted = true;
      this.tell("started", String(this.trigger.delivered), this.routeReason === "" ? {} : { route_reason: this.routeReason });
    }
  }

  private tellProgress(now: number): void {
    if (this.progress !== undefined && now - this.progressed >= PROGRESS_EVERY) {
      this.tell("progress", Date.now().toString(36), { ...this.progress });
      this.progress = undefined;
      this.progressed = now;
    }
  }

  /** Publish an event that need not be stored: a later one, and the end, say more. */
  private tell(kind: string, idEnd: string, more: Record<string, unknown>): void {
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId(kind, idEnd) };
    const data = JSON.stringify({ ...this.about(kind, new Date()), ...more });
    this.of.spawn(this.of.bus.stored(this.eventSubject, data, headers).catch(() => {}));
  }

  private about(kind: string, at: Date): Record<string, unknown> {
    const started = this.started && { delivered_at: this.came.toISOString(), started_at: this.started.toISOString() };
    return { kind, ...this.trigger.about(), instance: this.of.name, at: at.toISOString(), ...started };
  }

  private headers(message: string): Record<string, string> {
    return { [MESSAGE]: message, ...(this.trigger.token && { [TOKEN]: this.trigger.token }) };
  }

  private async sendLines(lines: Line[]): Promise<void> {
    const { runId, raw } = this.trigger;
    const body = { run_id: runId, job: raw.job, attempt: raw.attempt, ...this.trigger.piece(), instance: this.of.name, lines };
    await this.of.bus.stored(`log.${this.of.group}.${runId}`, JSON.stringify(body), this.headers("log.v1"));
  }
}
