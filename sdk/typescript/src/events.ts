/** What an attempt publishes about itself: events, and batches of log lines. */

import { fitted, HEADROOM } from "./ends";
import type { Instance } from "./instance";
import { stringify } from "./json";
import type { Outcome } from "./outcome";
import { MARK } from "./pieces";
import type { Progress } from "./run";
import type { Line } from "./runlog";
import { clock, duration } from "./time";
import type { Trigger } from "./trigger";
import { cut, MESSAGE, MSG_ID, TOKEN } from "./wire";

const MAX_BATCH = 256 << 10; // of log lines
const LEAST_LINE = 64; // what is left of a line that is cut, in bytes, at least

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
    this.tell("progress", clock.now().getTime().toString(36), { ...progress });
  }

  /** Publish the end until it is stored, and keep it on disk so long. False if the connection was closed before. */
  async finished(outcome: Outcome, at: Date, lines: number): Promise<boolean> {
    const data = this.end(outcome, at, lines);
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId("finished") };
    const forget = await this.of.spool.keep(this.subject, fitted(data, this.of.bus.maxPayload), headers);
    const stored = await this.of.ends.untilStored(this.trigger.raw.report, { subject: this.subject, data, headers });
    if (stored) {
      await forget();
    }
    return stored;
  }

  private end(outcome: Outcome, at: Date, lines: number): string {
    return stringify({
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
  }

  /**
   * Publish lines of the log once. Those that NATS does not take as one message come in several; a line that is too
   * long is cut. It throws if they are not stored.
   */
  async lines(lines: Line[]): Promise<void> {
    const { runId, raw } = this.trigger;
    const data = JSON.stringify({ run_id: runId, job: raw.job, attempt: raw.attempt, ...this.trigger.piece(), instance: this.of.name, lines });
    const excess = Buffer.byteLength(data) - Math.min(MAX_BATCH, this.of.bus.maxPayload - HEADROOM);
    if (excess > 0 && lines.length > 1) {
      const half = lines.length >> 1;
      await this.lines(lines.slice(0, half));
      return await this.lines(lines.slice(half));
    }
    const [line] = lines;
    const size = Buffer.byteLength(line?.text ?? "");
    if (excess > 0 && line !== undefined && size > LEAST_LINE) {
      const most = Math.max(size - excess, size >> 1) - Buffer.byteLength(MARK);
      return await this.lines([{ ...line, text: cut(line.text, most) + MARK }]);
    }
    await this.of.bus.stored(`log.${this.of.group}.${runId}`, data, this.headers("log.v1"));
  }

  private anotherFollows(outcome: Outcome): boolean {
    const listsPieces = this.trigger.raw.split === true && outcome.status === "succeeded";
    return !outcome.final && (listsPieces || this.trigger.again(outcome.status));
  }

  /** Publish an event that need not be stored: a later one, and the end, say more. */
  private tell(kind: string, idEnd: string, more: Record<string, unknown>): void {
    const headers = { ...this.headers("event.v1"), [MSG_ID]: this.trigger.messageId(kind, idEnd) };
    const data = JSON.stringify({ ...this.about(kind, clock.now()), ...more });
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
