/** One life of an executor: from its connection to its last acknowledgement. */

import { randomBytes } from "node:crypto";

import type { Msg } from "@nats-io/transport-node";

import { Attempt, PATIENCE } from "./attempt";
import { Blocked } from "./blocked";
import { Bus } from "./bus";
import { Cancelled, Stopping, textOf } from "./errors";
import type { Handler, Middleware } from "./handler";
import { Heart } from "./heart";
import type { Logger } from "./log";
import { Puller } from "./pull";
import { Recent } from "./recent";
import { Requests } from "./requests";
import type { Settings } from "./settings";
import { Spool } from "./spool";
import { Telemetry } from "./telemetry";
import { monotonic, pause } from "./time";
import { decode, type Trigger } from "./trigger";
import { ACK, delivery, giveBack, INSTANCE, MESSAGE, nakAfter, TOKEN, TRACE } from "./wire";

const TURN = 100;
const HAND_OVER_WAIT = 2000;

export type State = "online" | "draining" | "cordoned";

/** What an instance does, apart from where. */
export interface Program {
  handlers: ReadonlyMap<string, Handler>;
  middleware: readonly Middleware[];
  log: Logger;
}

export class Instance {
  readonly group: string;
  readonly name: string;
  readonly secret = randomBytes(20).toString("hex");
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly middleware: readonly Middleware[];
  readonly log: Logger;
  readonly live = new Map<string, Attempt>();
  readonly spool: Spool;
  readonly telemetry: Telemetry;
  slots: number;
  labels: Record<string, string>;
  state: State = "online";
  drainBy: Date | undefined;
  bus!: Bus;
  /** Handlers that ignored that they had to end. */
  leftBehind = 0;

  private readonly done = new Recent(3600_000); // attempts whose end is stored
  private readonly killed = new Recent(60_000); // runs
  private readonly reserved = new Recent(HAND_OVER_WAIT); // handed over; a server may offer it back
  private readonly heart: Heart;
  private readonly requests: Requests;
  private readonly blocked: Blocked;
  private puller!: Puller;
  private introduced: boolean | Promise<void> = false;
  private conflict: unknown;

  constructor(
    readonly settings: Settings,
    program: Program,
    private readonly stop: AbortSignal,
  ) {
    this.group = settings.group;
    this.name = settings.instance;
    this.slots = settings.slots;
    this.labels = { ...settings.labels };
    this.handlers = program.handlers;
    this.middleware = program.middleware;
    this.log = program.log;
    this.spool = new Spool(settings.spool, settings.spoolBytes, this.log);
    this.telemetry = new Telemetry(this.group, this.name);
    this.heart = new Heart(this);
    this.requests = new Requests(this);
    this.blocked = new Blocked(this.log);
  }

  // --- life

  async serve(): Promise<void> {
    const bus = await Bus.connect(this.settings, this.log, this.stop);
    if (bus === undefined) {
      return;
    }
    this.use(bus);
    try {
      await this.spool.report(bus, this.stop);
      await this.requests.listen();
      await this.heart.introduce(this.stop);
      this.introduced = true;
      this.log.info(`executor started: group ${this.group}, instance ${this.name}, ${this.slots} slots, handlers ${[...this.handlers.keys()].sort().join(", ")}`);
      this.heart.announce();
      this.telemetry.observe(() => ({ total: this.slots, inUse: this.live.size }));
      await this.work();
      await this.leave();
    } finally {
      this.telemetry.close();
      await bus.close();
    }
  }

  /** Use a connection. */
  use(bus: Bus): void {
    this.bus = bus;
    this.puller = new Puller(bus, this.group, (m) => this.take(m), this.log);
    bus.onReconnect = () => {
      this.puller.release();
      this.introduced = false;
    };
  }

  private async work(): Promise<void> {
    while (!this.stop.aborted && !this.hasDrained()) {
      if (this.conflict !== undefined) {
        throw this.conflict;
      }
      this.introduceAgain();
      this.lookAtAttempts();
      if (this.introduced === true) {
        this.puller.look(this.free());
        this.heart.look();
      }
      await pause(TURN, this.stop);
      this.blocked.look(TURN, this.live.values());
    }
  }

  private hasDrained(): boolean {
    const empty = this.state === "draining" && this.live.size === 0;
    return empty || (this.drainBy !== undefined && Date.now() >= this.drainBy.getTime());
  }

  /** Publish a stored heartbeat after a reconnection, while live runs go on. */
  private introduceAgain(): void {
    if (this.introduced !== false || !this.bus.connected) {
      return;
    }
    const attempt = this.heart.introduce(this.stop).then(
      () => {
        if (this.introduced === attempt) {
          this.introduced = true;
        }
      },
      (e: unknown) => {
        this.conflict = e;
      },
    );
    this.introduced = attempt;
  }

  private lookAtAttempts(): void {
    for (const attempt of this.live.values()) {
      attempt.look();
    }
  }

  /** Take no more, let live runs end for a while, end the rest, and remove the heartbeat. */
  private async leave(): Promise<void> {
    this.change("draining", this.drainBy);
    await this.bus.flush();
    this.log.info(`executor stopping: ${this.live.size} runs`);
    await this.untilEmpty(this.drainBy === undefined ? this.settings.grace : 0);
    for (const attempt of this.live.values()) {
      attempt.end(new Stopping("the executor is stopping"));
    }
    await this.untilEmpty(PATIENCE + 5000);
    await this.heart.leave();
    this.log.info("executor stopped");
  }

  private async untilEmpty(within: number): Promise<void> {
    for (const end = monotonic() + within; this.live.size > 0 && monotonic() < end; await pause(TURN / 2)) {
      this.lookAtAttempts();
      this.heart.look();
    }
  }

  // --- state

  change(state: State, drainBy?: Date): void {
    this.state = state;
    this.drainBy = drainBy;
    if (state !== "online") {
      this.puller.release();
    }
    this.heart.beat();
  }

  /** Take no more work, and leave when there is none; after that time at the latest. */
  drain(within: number | undefined): void {
    this.change("draining", within === undefined ? undefined : new Date(Date.now() + within));
  }

  set(slots: number | undefined, labels: Record<string, string> | undefined): void {
    if (slots !== undefined) {
      this.slots = slots;
      this.puller.release();
    }
    this.labels = labels ?? this.labels;
    this.heart.beat();
  }

  /** How many runs may begin. */
  free(): number {
    return this.state === "online" ? Math.max(this.slots - this.live.size - this.reserved.size, 0) : 0;
  }

  /** Whether all slots of a handler are taken. */
  isFull(handler: string): boolean {
    const slots = this.handlers.get(handler)?.slots ?? Number.POSITIVE_INFINITY;
    return Number.isFinite(slots) && [...this.live.values()].filter((a) => a.trigger.handler === handler).length >= slots;
  }

  isReserved(t: Trigger): boolean {
    return this.reserved.has(t.key);
  }

  custody(key: string): "held" | "reported" | "none" {
    return this.live.has(key) ? "held" : this.done.has(key) ? "reported" : "none";
  }

  // --- triggers

  /** A trigger that was pulled. */
  take(m: Msg): void {
    const header = (name: string) => m.headers?.get(name) ?? "";
    const reply = m.reply ?? "";
    let t: Trigger;
    try {
      t = decode(m.string(), header(TOKEN), delivery(reply).count, this.group, header(TRACE));
    } catch (e) {
      this.log.warn(`a message that is no trigger: ${textOf(e)}`);
      this.telemetry.count("triggers_rejected");
      this.bus.publish(reply, "+TERM");
      return;
    }
    if (this.continues(t, reply)) {
      return;
    }
    const isKnown = this.handlers.has(t.handler) && (header(MESSAGE) || "trigger.v1") === "trigger.v1";
    if (this.killed.has(t.runId)) {
      this.start(t, reply);
    } else if (t.delivered > 1 || !isKnown) {
      this.reserved.add(t.key);
      this.spawn(this.handOver(t, reply));
    } else if (this.state !== "online" || this.live.size >= this.slots) {
      this.telemetry.count("runs_given_back");
      this.bus.publish(reply, giveBack(t.delivered));
    } else if (this.isFull(t.handler)) {
      this.spawn(this.handOver(t, reply)); // other instances may have a slot, and servers wait for one
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
      this.bus.publish(reply, "+ACK");
      return true;
    }
    return false;
  }

  private async handOver(t: Trigger, reply: string): Promise<void> {
    this.telemetry.count("triggers_handed_over");
    try {
      const m = await this.bus.request(`hand.${this.group}`, "", { headers: { [ACK]: reply, [INSTANCE]: this.name }, timeout: HAND_OVER_WAIT });
      if ("value" in JSON.parse(m.string())) {
        return;
      }
    } catch {
      // no server took it: it comes again
    }
    this.reserved.delete(t.key);
    this.bus.publish(reply, nakAfter(5));
  }

  /** Do an attempt, unless it was killed, or is too late. */
  start(t: Trigger, reply: string, routeReason = ""): void {
    this.reserved.delete(t.key);
    const attempt = new Attempt(this, t, reply, routeReason);
    this.live.set(t.key, attempt);
    if (this.killed.has(t.runId)) {
      attempt.conclude({ status: "cancelled", message: "cancelled before it began here" });
    } else if (t.startBy !== undefined && Date.now() > t.startBy.getTime()) {
      attempt.conclude({ status: "missed", message: `no instance was free to begin it by ${t.startBy.toISOString()}` });
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
  }

  abandoned(t: Trigger): void {
    this.leftBehind++;
    this.telemetry.count("handlers_abandoned");
    this.log.warn(`handler ${t.handler} ignores that run ${t.runId} has to end, and is left behind: give run.signal to what it awaits`);
  }

  /** Let something go on beside the rest. It must deal with its errors. */
  spawn(work: Promise<unknown>): void {
    work.catch((e: unknown) => this.log.error(`BUG: ${textOf(e)}`));
  }
}
