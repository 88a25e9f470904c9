/** Pull requests: asking the group's consumers for as many triggers as there are free slots. */

import type { Msg, Subscription } from "@nats-io/transport-node";

import type { Bus } from "./bus";
import type { Logger } from "./log";
import { monotonic } from "./time";

const EXPIRES = 30_000;
const HEARTBEAT = 3000;
const TURN = 1000; // how long a request waits while several consumers share the slots
const SILENCE = 2 * HEARTBEAT + 500;
const PAUSE_MIN = 250;
const PAUSE_MAX = 2000;
const AT_MOST = 8; // requests to a consumer at once
const PUZZLING = 15_000; // how long there may be no consumer before somebody should look

/** Names a durable consumer of a stream of triggers. */
export interface ConsumerName {
  stream: string;
  consumer: string;
}

interface Request {
  of: Consumer;
  left: number;
  heard: number;
  sub?: Subscription;
}

class Consumer {
  readonly requests = new Set<Request>();
  asked = 0; // when the last request was made
  notBefore = 0;
  private pause = PAUSE_MIN;
  private refusedSince = 0;
  private warned = false;

  constructor(
    readonly name: ConsumerName,
    private readonly log: Logger,
  ) {}

  /** How many triggers its requests may still bring. */
  ordered(): number {
    return [...this.requests].reduce((n, r) => n + r.left, 0);
  }

  refused(status: number): void {
    const now = monotonic();
    this.notBefore = now + this.pause;
    this.pause = Math.min(2 * this.pause, PAUSE_MAX);
    const { stream, consumer } = this.name;
    if (this.refusedSince === 0) {
      this.refusedSince = now;
      this.log.info(`waiting for triggers to be available (consumer ${consumer} of ${stream}, ${status})`);
    } else if (!this.warned && now - this.refusedSince > PUZZLING) {
      this.warned = true;
      this.log.warn(
        `still no triggers (consumer ${consumer} of ${stream}): is a Carillon server running on this NATS, and the group's name right?`,
      );
    }
  }

  accepted(): void {
    this.pause = PAUSE_MIN;
    if (this.refusedSince > 0) {
      this.log.info("triggers are available");
    }
    this.refusedSince = 0;
    this.warned = false;
  }
}

/**
 * Keeps requests out for the free slots that none has been made for. Each consumer without a
 * request is asked for one trigger, and the one that brought the last trigger for all that the
 * others leave.
 */
export class Puller {
  private consumers: Consumer[] = [];
  private busiest: Consumer | undefined;

  constructor(
    private readonly bus: Bus,
    group: string,
    private readonly take: (m: Msg) => void,
    private readonly log: Logger,
  ) {
    this.pullFrom([{ stream: "TRIG", consumer: `any-${group}` }]);
  }

  /** Replace the list of consumers. */
  pullFrom(names: ConsumerName[]): void {
    this.release();
    this.consumers = names.map((name) => new Consumer(name, this.log));
    this.busiest = this.consumers[0];
  }

  /** Ask for what is free, unless it is little and more is on order: look does that soon. */
  slotFree(free: number): void {
    const ordered = this.consumers.reduce((n, c) => n + c.ordered(), 0);
    if (free - ordered >= Math.max(ordered, 1)) {
      this.look(free);
    }
  }

  /** Give up requests that have died unseen, or whose slots other runs have taken, and ask for what is free. */
  look(free: number): void {
    const now = monotonic();
    let n = free;
    for (const c of this.consumers) {
      for (const r of c.requests) {
        if (now - r.heard > SILENCE) {
          this.giveUp(r);
        }
      }
      n -= c.ordered();
    }
    if (n < 0) {
      this.release();
      n = free;
    }
    if (n <= 0 || !this.bus.connected) {
      return;
    }
    const due = this.consumers.filter((c) => now >= c.notBefore);
    if (this.consumers.length > 1) {
      const idle = due.filter((c) => c.requests.size === 0).sort((a, b) => a.asked - b.asked);
      for (const c of idle.slice(0, n)) {
        this.ask(c, 1);
        n--;
      }
    }
    if (n > 0 && this.busiest && due.includes(this.busiest) && this.busiest.requests.size < AT_MOST) {
      this.ask(this.busiest, n);
    }
  }

  /** Give up all requests. What they have brought by the time that NATS hears of it still comes. */
  release(): void {
    for (const c of this.consumers) {
      for (const r of c.requests) {
        this.giveUp(r);
      }
    }
  }

  private ask(c: Consumer, n: number): void {
    const inbox = this.bus.inbox();
    const r: Request = { of: c, left: n, heard: monotonic() };
    r.sub = this.bus.subscribe(inbox, (m) => this.hear(r, m));
    c.requests.add(r);
    c.asked = r.heard;
    const [lasts, beat] = this.consumers.length === 1 ? [EXPIRES, HEARTBEAT] : [TURN, TURN / 2];
    const body = { batch: n, expires: lasts * 1e6, idle_heartbeat: beat * 1e6 };
    this.bus.publish(`$JS.API.CONSUMER.MSG.NEXT.${c.name.stream}.${c.name.consumer}`, JSON.stringify(body), { reply: inbox });
  }

  private hear(r: Request, m: Msg): void {
    r.heard = monotonic();
    const status = m.data.length > 0 ? 0 : (m.headers?.code ?? 0);
    if (status === 0) {
      r.left--;
      if (r.left <= 0) {
        this.close(r);
      }
      r.of.accepted();
      if (this.consumers.includes(r.of)) {
        this.busiest = r.of;
      }
      this.take(m);
    } else if (!r.of.requests.has(r)) {
      return; // the last word of a request that was given up
    } else if (status === 100) {
      r.of.accepted();
    } else if (status === 404 || status === 408) {
      this.close(r);
      r.of.accepted();
    } else {
      this.close(r);
      r.of.refused(status);
    }
  }

  /** End a request that NATS has ended. */
  private close(r: Request): void {
    r.of.requests.delete(r);
    r.sub?.unsubscribe();
  }

  /** End a request that NATS may still have. */
  private giveUp(r: Request): void {
    r.of.requests.delete(r);
    r.sub?.drain().catch(() => {}); // the connection is gone, and with it what was on its way
  }
}
