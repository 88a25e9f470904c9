/** What an attempt publishes about itself: events, and batches of log lines. */

import type { Instance } from "./instance";
import type { Outcome } from "./outcome";
import type { Progress } from "./run";
import type { Line } from "./runlog";
import { duration } from "./time";
import type { Trigger } from "./trigger";
import { MESSAGE, MSG_ID, TOKEN } from "./wire";

export class Events {
  /** When the handler was about to be called; undefined if it was not. */
  startedAt: Date | undefined;
  private readonly subject: string;

  constructor(
    private readonly of: Instance,
    private readonly trigger: Trigger,
    private readonly deliveredAt: Date,
  ) {
    this.subject = `evt.${trigger.raw.shard}.${of.group}`;
  }

  started(routeReason: string): void {
    this.tell("started", String(this.trigger.delivered), routeReason === "" ? {} : { route_reason: routeReason });
  }

  progress(progress: Progress): void {
    this.tell("progress", Date.now().toString(36), { ...progress });
  }

  /** Publish the end until it is stored, and keep it on disk so long. */
  async finished(outcome: Outcome, at: Date, lines: number): Promise<void> {
    const data = JSON.stringify({
      ...this.about("finished", at),
      finished_at: at.toISOString(),
      status: outcome.status,
      ...(outcome.message && { message: outcome.message }),
      ...(outcome.result !== undefined && { result: outcome.result }),
      ...(lines > 0 && { log_lines: lines }),
      ...(outcome.final && { final: true }),
      ...(outcome.retryAfter !== undefined && { retry_after: duration(outcome.retryAfter) }),
      ...(this.anotherFollows(outcome) && { retry: true }),
    });
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId("finished") };
    const forget = await this.of.spool.keep(this.subject, data, headers);
    const onRepeat = () => this.of.telemetry.count("event_publish_retries");
    if (await this.of.bus.untilStored(this.subject, data, headers, { onRepeat })) {
      await forget();
    }
  }

  /** Publish lines of the log once. It throws if they are not stored. */
  async lines(lines: Line[]): Promise<void> {
    const { runId, raw } = this.trigger;
    const body = { run_id: runId, job: raw.job, attempt: raw.attempt, ...this.trigger.piece(), instance: this.of.name, lines };
    await this.of.bus.stored(`log.${this.of.group}.${runId}`, JSON.stringify(body), this.headers("log.v1"));
  }

  private anotherFollows(outcome: Outcome): boolean {
    const listsPieces = this.trigger.raw.split === true && outcome.status === "succeeded";
    return !outcome.final && (listsPieces || this.trigger.again(outcome.status));
  }

  /** Publish an event that need not be stored: a later one, and the end, say more. */
  private tell(kind: string, idEnd: string, more: Record<string, unknown>): void {
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId(kind, idEnd) };
    const data = JSON.stringify({ ...this.about(kind, new Date()), ...more });
    this.of.spawn(this.of.bus.stored(this.subject, data, headers).catch(() => {}));
  }

  private about(kind: string, at: Date): Record<string, unknown> {
    const times = this.startedAt && { delivered_at: this.deliveredAt.toISOString(), started_at: this.startedAt.toISOString() };
    return { kind, ...this.trigger.about(), instance: this.of.name, at: at.toISOString(), ...times };
  }

  private headers(message: string): Record<string, string> {
    return { [MESSAGE]: message, ...(this.trigger.token && { [TOKEN]: this.trigger.token }) };
  }
}
