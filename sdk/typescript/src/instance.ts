/** One life of an executor: from its connection to its last acknowledgement. */

import { randomBytes } from "node:crypto";

import { PATIENCE } from "./attempt";
import { Attempts } from "./attempts";
import { Blocked, LOST } from "./blocked";
import { Bus } from "./bus";
import { Ends } from "./ends";
import { Stopping, textOf } from "./errors";
import type { Handler, Middleware } from "./handler";
import { Heart, type Refusal } from "./heart";
import type { Logger } from "./log";
import { type ConsumerName, Puller } from "./pull";
import { Requests } from "./requests";
import type { Settings } from "./settings";
import { Spool } from "./spool";
import { Telemetry } from "./telemetry";
import { clock, monotonic, pause } from "./time";
import type { Trigger } from "./trigger";

const TURN = 100;

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
  readonly attempts: Attempts;
  readonly spool: Spool;
  readonly ends = new Ends(this);
  readonly telemetry: Telemetry;
  slots: number;
  labels: Record<string, string>;
  state: State = "online";
  drainBy: Date | undefined;
  bus!: Bus;
  /** Messages of this instance that servers refused, and the last of them. */
  refused = 0;
  refusal: Refusal | undefined;
  /** Handlers that ignored their cancellation. */
  leftBehind = 0;

  private readonly heart: Heart;
  private readonly requests: Requests;
  readonly blocked: Blocked;
  private puller!: Puller;
  private introduced: boolean | Promise<void> = false; // on this connection, or under way
  private introducing: Promise<void> = Promise.resolve(); // all that is under way
  private readonly introductions = new AbortController(); // ends them
  private readonly stop: AbortSignal;
  private readonly hurry: AbortSignal; // live runs are given back at once
  private unsaid = false; // the heartbeat that is being stored does not tell all
  private conflict: unknown;
  private stopping = false;
  private behind = 0; // how long what comes now may have waited
  private catchingUp: Promise<void> | undefined;

  constructor(
    readonly settings: Settings,
    program: Program,
    signals: AbortSignal | { stop: AbortSignal; hurry: AbortSignal },
  ) {
    this.stop = "hurry" in signals ? signals.stop : signals;
    this.hurry = "hurry" in signals ? signals.hurry : new AbortController().signal;
    this.group = settings.group;
    this.name = settings.instance;
    this.slots = settings.slots;
    this.labels = { ...settings.labels };
    this.handlers = program.handlers;
    this.middleware = program.middleware;
    this.log = program.log;
    this.spool = new Spool(settings.spool, settings.spoolBytes, this.log);
    this.telemetry = new Telemetry(this.group, this.name);
    this.attempts = new Attempts(this);
    this.heart = new Heart(this);
    this.requests = new Requests(this);
    this.blocked = new Blocked(this.log, this.attempts.live, (ms) => this.stood(ms));
  }

  // --- life

  async serve(): Promise<void> {
    await this.spool.open();
    const bus = await Bus.connect(this.settings, this.log, this.stop);
    if (bus === undefined) {
      return;
    }
    this.use(bus);
    try {
      await this.spool.report(bus, this.stop);
      await this.requests.listen();
      if (!(await this.heart.introduce(this.stop))) {
        return;
      }
      await this.heart.compareClocks();
      this.online();
      this.log.info(`executor started: group ${this.group}, instance ${this.name}, ${this.slots} slots, handlers ${[...this.handlers.keys()].sort().join(", ")}`);
      this.heart.announce();
      this.telemetry.observe(() => ({ total: this.slots, inUse: this.attempts.live.size }));
      this.blocked.start();
      await this.work();
      await this.leave();
    } finally {
      this.telemetry.close();
      await this.blocked.close();
      await bus.close();
    }
  }

  /** Use a connection. */
  use(bus: Bus): void {
    this.bus = bus;
    this.puller = new Puller(bus, this.group, (m) => this.attempts.take(m), this.log);
    bus.onReconnect = () => this.introduceAnew();
  }

  /** Store a heartbeat again before the next pull: servers may have forgotten the last one. */
  private introduceAnew(): void {
    this.puller.release();
    this.introduced = false;
  }

  /** The event loop stood still: what NATS has sent meanwhile has waited here for so long. */
  private stood(ms: number): void {
    this.behind += ms;
    const caughtUp = this.bus.roundTrip().then(() => {
      if (this.catchingUp === caughtUp) {
        this.behind = 0;
      }
    });
    this.catchingUp = caughtUp;
    if (this.behind >= LOST) {
      this.introduceAnew();
    }
  }

  /** Whether a trigger that comes now may have waited here for so long that another instance has it too. */
  isLate(): boolean {
    this.blocked.look();
    return this.behind >= LOST;
  }

  private async work(): Promise<void> {
    while (!this.stop.aborted && !this.hasDrained()) {
      if (this.conflict !== undefined) {
        throw this.conflict;
      }
      this.introduceAgain();
      this.lookAtAttempts();
      if (this.introduced === true) {
        this.puller.look(this.attempts.free());
        this.heart.look();
      }
      await pause(TURN, this.stop);
    }
  }

  /** A run has ended. */
  slotFree(): void {
    if (this.introduced === true) {
      this.puller.slotFree(this.attempts.free());
    }
  }

  private hasDrained(): boolean {
    return (this.state === "draining" && this.attempts.live.size === 0) || this.isOverdue();
  }

  /** Whether the time is over that somebody gave the instance to drain. */
  private isOverdue(): boolean {
    return this.drainBy !== undefined && clock.now() >= this.drainBy;
  }

  /** Publish a stored heartbeat after a reconnection, while live runs go on. */
  private introduceAgain(): void {
    if (this.introduced !== false || !this.bus.connected || this.conflict !== undefined) {
      return;
    }
    const attempt = this.heart.introduce(this.introductions.signal).then(
      async (stored) => {
        if (stored) {
          await this.heart.compareClocks();
        }
        if (this.introduced === attempt) {
          this.introduced = stored;
          this.beat(); // a try may take a while
        }
      },
      (e: unknown) => {
        this.conflict = e;
      },
    );
    this.introduced = attempt;
    this.introducing = Promise.all([this.introducing, attempt]).then(() => {});
  }

  private lookAtAttempts(): void {
    for (const attempt of this.attempts.live.values()) {
      attempt.look();
    }
  }

  /** Take no more, let live runs end for a while, end the rest, and remove the heartbeat. */
  private async leave(): Promise<void> {
    const left = this.drainBy === undefined ? Number.POSITIVE_INFINITY : Math.max(this.drainBy.getTime() - clock.now().getTime(), 0); // of a drain's time
    const grace = Math.min(this.settings.grace, left);
    this.stopping = true;
    this.change("draining", this.drainBy);
    await this.bus.flush();
    const again = this.attempts.live.size > 0 ? "; a second signal gives them back at once" : "";
    this.log.info(`executor stopping: ${this.attempts.live.size} runs${again}`);
    await this.untilEmpty(grace, this.hurry);
    if (this.hurry.aborted && this.attempts.live.size > 0) {
      this.log.warn(`stopped again: ${this.attempts.live.size} runs are cancelled and given back`);
    }
    for (const attempt of this.attempts.live.values()) {
      attempt.end(new Stopping("the executor is stopping"));
    }
    await this.untilEmpty(PATIENCE + 5000);
    this.introductions.abort(null);
    await this.introducing; // it would revive the heartbeat
    if (this.introduced === true) {
      await this.heart.leave();
    }
    this.log.info("executor stopped");
    if (this.conflict !== undefined) {
      throw this.conflict;
    }
  }

  private async untilEmpty(within: number, hurry?: AbortSignal): Promise<void> {
    for (const end = monotonic() + within; this.attempts.live.size > 0 && monotonic() < end && !hurry?.aborted; await pause(TURN / 2)) {
      this.introduceAgain();
      this.lookAtAttempts();
      if (this.introduced === true) {
        this.heart.look();
      }
    }
  }

  // --- state

  change(state: State, drainBy?: Date): void {
    this.state = state;
    this.drainBy = drainBy;
    if (state !== "online") {
      this.puller.release();
    }
    this.beat();
  }

  /** Publish a heartbeat; once it is introduced, as what is stored under this name before may be another's. */
  private beat(): void {
    this.unsaid = this.introduced !== true;
    if (!this.unsaid) {
      this.heart.beat();
    }
  }

  /** Its first heartbeat is stored. */
  private online(): void {
    this.introduced = true;
    if (this.unsaid) {
      this.beat();
    }
  }

  /** Take no more work, and leave when there is none; after that time at the latest. One that stops has its own limit. */
  drain(within: number | undefined): void {
    if (!this.stopping) {
      this.change("draining", within === undefined ? undefined : new Date(clock.now().getTime() + within));
    }
  }

  /** Take work again. False if the instance stops. */
  uncordon(): boolean {
    if (!this.stopping) {
      this.change("online");
    }
    return !this.stopping;
  }

  set(slots: number | undefined, labels: Record<string, string> | undefined): void {
    if (slots !== undefined) {
      this.slots = slots;
      this.puller.release();
    }
    this.labels = labels ?? this.labels;
    this.beat();
  }

  pullFrom(consumers: ConsumerName[]): void {
    this.log.info(`pulling from other consumers: ${consumers.map((c) => `${c.consumer} of ${c.stream}`).join(", ")}`);
    this.puller.pullFrom(consumers);
  }

  refusedBy(refusal: Refusal): void {
    this.refused++;
    this.refusal = refusal;
    this.telemetry.count("messages_refused");
    const { reason, stream, sequence, subject } = refusal;
    this.log.error(`servers have refused a message of this executor: ${reason} (stream ${stream}, sequence ${sequence}, subject ${subject})`);
    this.beat();
  }

  leaveBehind(t: Trigger): void {
    this.leftBehind++;
    this.telemetry.count("handlers_abandoned");
    this.log.warn(`handler ${t.handler} ignores that run ${t.runId} has to end, and is left behind: give run.signal to what it awaits`);
  }

  /** Let something go on beside the rest. It must deal with its errors. */
  spawn(work: Promise<unknown>): void {
    work.catch((e: unknown) => this.log.error(`BUG: ${textOf(e)}`));
  }
}
