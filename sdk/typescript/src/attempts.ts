/** The attempts that are here, or were: which begin, which continue, and which are for others. */

import type { Msg } from "@nats-io/transport-node";

import { Attempt } from "./attempt";
import { Cancelled, textOf } from "./errors";
import type { Instance } from "./instance";
import { Recent } from "./recent";
import { clock } from "./time";
import { decode, type Trigger } from "./trigger";
import { ACK, delivery, giveBack, INSTANCE, MESSAGE, nakAfter, TOKEN, TRACE, TRIGGER } from "./wire";

const HAND_OVER_WAIT = 2000;

export class Attempts {
  readonly live = new Map<string, Attempt>();
  private readonly done = new Recent(3600_000); // attempts whose end is stored
  private readonly killed = new Recent(60_000); // runs
  alone = { key: "", until: 0 }; // the attempt beside which none may begin, and until when
  private readonly reserved = new Recent(HAND_OVER_WAIT); // by reply subject: handed over; a server may offer it back

  constructor(private readonly of: Instance) {}

  /** A trigger that was pulled. */
  take(m: Msg): void {
    const late = this.of.isLate();
    const header = (name: string) => m.headers?.get(name) ?? "";
    const reply = m.reply ?? "";
    if ((header(MESSAGE) || TRIGGER) !== TRIGGER) {
      this.handOver(reply); // a newer instance may know this version
      return;
    }
    let t: Trigger;
    try {
      t = decode(m.string(), header(TOKEN), delivery(reply).count, this.of.group, header(TRACE));
    } catch (e) {
      this.of.log.warn(`a message that is no trigger: ${textOf(e)}`);
      this.of.telemetry.count("triggers_rejected");
      this.of.bus.publish(reply, "+TERM");
      return;
    }
    if (this.continues(t, reply)) {
      return;
    }
    if (this.killed.has(t.runId)) {
      this.start(t, reply);
    } else if (t.delivered > 1 || late || !this.of.handlers.has(t.handler)) {
      this.handOver(reply);
    } else if (this.of.state !== "online" || this.live.size >= this.of.slots || this.isAlone()) {
      this.giveBack(reply, giveBack(t.delivered));
    } else if (this.isFull(t.handler)) {
      this.of.spawn(this.handedOver(reply)); // other instances may have a slot, and servers wait for one
    } else {
      this.start(t, reply);
    }
  }

  /** Whether the attempt is here, or was: then the newer delivery is answered. */
  continues(t: Trigger, reply: string): boolean {
    const attempt = this.live.get(t.key);
    if (attempt !== undefined) {
      attempt.reply = reply;
      attempt.trigger.delivered = Math.max(attempt.trigger.delivered, t.delivered);
      return true;
    }
    if (this.done.has(t.key)) {
      this.of.bus.publish(reply, "+ACK");
      return true;
    }
    return false;
  }

  private handOver(reply: string): void {
    this.reserved.add(reply);
    this.of.spawn(this.handedOver(reply));
  }

  private async handedOver(reply: string): Promise<void> {
    try {
      const m = await this.of.bus.request(`hand.${this.of.group}`, "", { headers: { [ACK]: reply, [INSTANCE]: this.of.name }, timeout: HAND_OVER_WAIT });
      if ("value" in JSON.parse(m.string())) {
        this.of.telemetry.count("triggers_handed_over");
        return;
      }
    } catch {
      // no server took it: it comes again
    }
    this.reserved.delete(reply);
    this.giveBack(reply, nakAfter(5));
  }

  /** Give a trigger back to the group, by an answer that does so. */
  giveBack(reply: string, answer: string): void {
    this.of.telemetry.count("runs_given_back");
    this.of.bus.publish(reply, answer);
  }

  /** Do an attempt, unless it was killed, or is too late. */
  start(t: Trigger, reply: string, routeReason = ""): void {
    this.reserved.delete(reply);
    const attempt = new Attempt(this.of, t, reply, routeReason);
    this.live.set(t.key, attempt);
    if (this.killed.has(t.runId)) {
      attempt.conclude({ status: "cancelled", message: "cancelled before it began here" });
    } else if (t.startBy !== undefined && clock.now() > t.startBy) {
      attempt.conclude({ status: "missed", message: `no instance was free to begin it by ${t.startBy.toISOString()}` });
    } else if (t.endBy !== undefined && clock.now() > t.endBy) {
      attempt.conclude({ status: "timed_out", message: `the run had to end by ${t.endBy.toISOString()}, with all its attempts` });
    } else {
      attempt.start();
    }
  }

  /** End a run, in any attempt and piece, also one that is still to come. */
  kill(runId: string, reason: string): Attempt[] {
    this.killed.add(runId);
    const found = [...this.live.values()].filter((a) => a.trigger.runId === runId);
    for (const attempt of found) {
      attempt.end(new Cancelled(reason));
    }
    return found;
  }

  /** An attempt is over; stored says that its end is, so that it must not be done again here. */
  settled(attempt: Attempt, stored: boolean): void {
    this.live.delete(attempt.trigger.key);
    if (stored) {
      this.done.add(attempt.trigger.key);
    }
    this.of.slotFree();
  }

  /** How many runs may begin. */
  free(): number {
    return this.of.state === "online" && !this.isAlone() ? Math.max(this.of.slots - this.live.size - this.reserved.size, 0) : 0;
  }

  /** Whether a run is here beside which no other may begin yet: an executor died that had it. */
  isAlone(): boolean {
    return this.live.has(this.alone.key) && performance.now() < this.alone.until;
  }

  /** Whether all slots of a handler are taken. */
  isFull(handler: string): boolean {
    const slots = this.of.handlers.get(handler)?.slots ?? Number.POSITIVE_INFINITY;
    return Number.isFinite(slots) && [...this.live.values()].filter((a) => a.trigger.handler === handler).length >= slots;
  }

  isReserved(reply: string): boolean {
    return this.reserved.has(reply);
  }

  custody(key: string): "held" | "reported" | "none" {
    return this.live.has(key) ? "held" : this.done.has(key) ? "reported" : "none";
  }
}
