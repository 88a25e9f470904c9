/** Pull requests: asking the group's consumer for as many triggers as there are free slots. */

import type { Msg, Subscription } from "@nats-io/transport-node";

import type { Bus } from "./bus";
import type { Logger } from "./log";
import { monotonic } from "./time";

const EXPIRES = 30_000;
const HEARTBEAT = 3000;
const SILENCE = 2 * HEARTBEAT + 500;
const PAUSE_MIN = 250;
const PAUSE_MAX = 2000;
const AT_MOST = 8; // requests at once
const PUZZLING = 15_000; // how long there may be no consumer before somebody should look

interface Request {
  left: number;
  heard: number;
  sub?: Subscription;
}

/** Keeps requests out for the free slots that none has been made for. */
export class Puller {
  private readonly requests = new Set<Request>();
  private pause = PAUSE_MIN;
  private notBefore = 0;
  private refusedSince = 0;
  private warned = false;

  constructor(
    private readonly bus: Bus,
    private readonly group: string,
    private readonly take: (m: Msg) => void,
    private readonly log: Logger,
  ) {}

  /** Give up requests that have died unseen, and ask for what is free. */
  look(free: number): void {
    const now = monotonic();
    let asked = 0;
    for (const r of this.requests) {
      if (now - r.heard > SILENCE) {
        this.close(r);
      } else {
        asked += r.left;
      }
    }
    if (free > asked && this.requests.size < AT_MOST && now >= this.notBefore && this.bus.connected) {
      this.ask(free - asked);
    }
  }

  /** Give up all requests. */
  release(): void {
    for (const r of this.requests) {
      this.close(r);
    }
  }

  private ask(n: number): void {
    const inbox = this.bus.inbox();
    const r: Request = { left: n, heard: monotonic() };
    r.sub = this.bus.subscribe(inbox, (m) => this.hear(r, m));
    this.requests.add(r);
    const body = { batch: n, expires: EXPIRES * 1e6, idle_heartbeat: HEARTBEAT * 1e6 };
    this.bus.publish(`$JS.API.CONSUMER.MSG.NEXT.TRIG.any-${this.group}`, JSON.stringify(body), { reply: inbox });
  }

  private hear(r: Request, m: Msg): void {
    r.heard = monotonic();
    const status = m.data.length > 0 ? 0 : (m.headers?.code ?? 0);
    if (status === 0) {
      r.left--;
      if (r.left <= 0) {
        this.close(r);
      }
      this.accepted();
      this.take(m);
    } else if (status === 100) {
      this.accepted();
    } else if (status === 404 || status === 408) {
      this.close(r);
      this.accepted();
    } else {
      this.close(r);
      this.refused(status);
    }
  }

  private refused(status: number): void {
    const now = monotonic();
    this.notBefore = now + this.pause;
    this.pause = Math.min(2 * this.pause, PAUSE_MAX);
    if (this.refusedSince === 0) {
      this.refusedSince = now;
      this.log.info(`waiting for triggers to be available (${status})`);
    } else if (!this.warned && now - this.refusedSince > PUZZLING) {
      this.warned = true;
      this.log.warn(`still no triggers for group ${this.group}: is a Carillon server running on this NATS, and the group's name right?`);
    }
  }

  private accepted(): void {
    this.pause = PAUSE_MIN;
    if (this.refusedSince > 0) {
      this.log.info("triggers are available");
    }
    this.refusedSince = 0;
    this.warned = false;
  }

  private close(r: Request): void {
    this.requests.delete(r);
    r.sub?.unsubscribe();
  }
}
