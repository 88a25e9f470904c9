/** Heartbeats, the name of the instance, and its handlers: what others know of it. */

import { cpus, freemem, hostname, loadavg, totalmem } from "node:os";

import { Refused } from "./bus";
import { ConflictError, textOf } from "./errors";
import type { Instance } from "./instance";
import { isDoubling } from "./log";
import { clock, monotonic, pause } from "./time";
import { isObject } from "./trigger";
import { ACK_WAIT, EXPECTED, HEARTBEAT_EVERY, MAX_ANNOUNCEMENT, PROTOCOL } from "./wire";

const SDK = "carillon-typescript/0.1.0";
const WRONG_SEQUENCE = 10071;
const COMPARE_EVERY = 15_000; // how often this machine's clock is compared with NATS'
const COMPARE_WITHIN = 1000; // a heartbeat that takes longer says too little
const DAY = 24 * 3600 * 1000;

/** Why servers refused a message of this instance. */
export interface Refusal {
  stream: string;
  sequence: number;
  subject: string;
  reason: string;
  at: string;
}

export class Heart {
  private readonly subject: string;
  private readonly startedAt = new Date().toISOString();
  private beaten = 0;
  private compared = monotonic(); // when the clock was compared with NATS'
  private announced = 0;

  constructor(private readonly of: Instance) {
    this.subject = `$KV.INST.${of.group}.${of.name}`;
  }

  /** Publish a heartbeat, if one is due. */
  look(): void {
    if (monotonic() - this.beaten >= HEARTBEAT_EVERY) {
      this.beat();
    }
    if (monotonic() - this.announced >= DAY) {
      this.announce();
    }
  }

  beat(): void {
    this.beaten = monotonic();
    if (this.beaten - this.compared >= COMPARE_EVERY) {
      this.of.spawn(this.compareClocks());
    } else {
      this.of.bus.publish(this.subject, this.body());
    }
  }

  /** Have a heartbeat stored, and read when that was, by NATS' clock. It never throws: without an answer nothing changes. */
  async compareClocks(): Promise<void> {
    this.compared = monotonic();
    try {
      const sent = new Date();
      await this.of.bus.stored(this.subject, this.body(sent), {});
      if (monotonic() - this.compared > COMPARE_WITHIN) {
        return; // nobody knows when this one was sent
      }
      const m = await this.of.bus.request(`$JS.API.DIRECT.GET.KV_INST.${this.subject}`, "", { timeout: COMPARE_WITHIN });
      const beat: unknown = JSON.parse(m.string());
      const stored = Date.parse(m.headers?.get("Nats-Time-Stamp") ?? "");
      if (isObject(beat) && beat.at === sent.toISOString() && clock.compare(sent.getTime(), stored)) {
        const seconds = (Math.abs(clock.offset) / 1000).toFixed(1);
        const how = clock.offset === 0 ? "in line again with" : `${seconds} s ${clock.offset > 0 ? "ahead of" : "behind"}`;
        this.of.log.warn(`the clock of this machine is ${how} NATS' clock, by which times are corrected: check NTP`);
      }
    } catch {
      // it is only a measurement
    }
  }

  /** Publish a heartbeat that is stored; false if stop is aborted before. Throws ConflictError if another instance of this name lives. */
  async introduce(stop: AbortSignal): Promise<boolean> {
    let expected: number | undefined = 0; // undefined: whatever is there
    let heard = monotonic(); // when one could be read last
    let said = false; // that none can
    let seen = -1;
    let looks = 0;
    let since = monotonic();
    let failures = 0;
    while (!stop.aborted) {
      try {
        await this.of.bus.stored(this.subject, this.body(), expected === undefined ? {} : { [EXPECTED]: String(expected) });
        this.beaten = monotonic();
        return true;
      } catch (e) {
        if (!(e instanceof Refused) || e.code !== WRONG_SEQUENCE) {
          this.sayNotStored(++failures, e);
          await pause(Math.min(250 * failures, 2000), stop);
          expected = 0; // meanwhile another may have come
          heard = monotonic();
          continue;
        }
      }
      const last = await this.last();
      if (last.sequence !== 0) {
        heard = monotonic();
      }
      if (last.sequence === 0 && monotonic() - heard < ACK_WAIT) { // a replica that lags behind, or nobody answers
        expected = 0; // it may have been removed meanwhile
        if (!said) {
          said = true;
          this.of.log.info(`waiting: the heartbeat of instance ${this.of.name} cannot be read; if that lasts ${ACK_WAIT / 1000} s, the instance counts as gone`);
        }
      } else if (last.sequence === 0) {
        expected = undefined;
        continue;
      } else if (last.beat === undefined || last.beat.control_secret === this.of.secret) {
        if (last.sequence !== expected) {
          expected = last.sequence;
          continue;
        }
      } else if (looks++ < 2) { // a replica that lags behind may show an older one first
        if (seen < 0) {
          this.of.log.info(`waiting: a heartbeat of instance ${this.of.name} is there; it may be of one that died`);
        }
        seen = last.sequence;
        since = monotonic();
      } else if (last.sequence !== seen) {
        throw new ConflictError(conflict(this.of, last.beat));
      } else if (monotonic() - since > ACK_WAIT) {
        expected = last.sequence;
        continue;
      }
      await pause(1000, stop);
    }
    return false;
  }

  private sayNotStored(failures: number, e: unknown): void {
    if (isDoubling(failures)) {
      this.of.log.warn(`the heartbeat is not stored (${textOf(e)}): ${this.of.bus.ask()} (trying again)`);
    }
  }

  /** The last heartbeat of this name; without one if that instance has left. */
  private async last(): Promise<{ sequence: number; beat?: Record<string, unknown> }> {
    try {
      const m = await this.of.bus.request(`$JS.API.DIRECT.GET.KV_INST.${this.subject}`, "");
      const sequence = Number(m.headers?.get("Nats-Sequence") || 0);
      const beat: unknown = m.data.length > 0 && !m.headers?.has("KV-Operation") ? JSON.parse(m.string()) : undefined;
      return isObject(beat) ? { sequence, beat } : { sequence };
    } catch {
      return { sequence: 0 };
    }
  }

  /** Publish what the handlers do and accept. */
  announce(): void {
    this.announced = monotonic();
    for (const h of this.of.handlers.values()) {
      const about = {
        executor_group: this.of.group,
        handler: h.name,
        ...(h.description && { description: h.description }),
        ...(h.paramsSchema && { params_schema: h.paramsSchema }),
        ...(h.resultSchema && { result_schema: h.resultSchema }),
        instance: this.of.name,
        ...(this.of.settings.version && { version: this.of.settings.version }),
        at: new Date().toISOString(),
      };
      const subject = `$KV.HANDLER.${this.of.group}.${Buffer.from(h.name).toString("base64url")}`;
      const text = JSON.stringify(about);
      const [bytes, most] = [Buffer.byteLength(text), Math.min(MAX_ANNOUNCEMENT, this.of.bus.maxPayload)];
      if (bytes > most) {
        this.of.log.error(`handler ${h.name} is not announced: its description and schemas make ${bytes} bytes, and the bucket or the max_payload of NATS allows ${most}: shorten its schemas`);
        continue;
      }
      this.of.spawn(this.of.bus.untilStored(subject, () => text, {}));
    }
  }

  /** Remove the heartbeat. */
  async leave(): Promise<void> {
    this.of.bus.publish(this.subject, "", { headers: { "KV-Operation": "DEL" } });
    await this.of.bus.flush();
  }

  private body(at = new Date()): string {
    const { of } = this;
    return JSON.stringify({
      executor_group: of.group,
      instance: of.name,
      state: of.state,
      kinds: ["handler"],
      handlers: [...of.handlers.keys()].sort(),
      slots: of.slots,
      running: of.attempts.live.size,
      labels: of.labels,
      ...(of.labels.zone && { zone: of.labels.zone }),
      load: { cpus: cpus().length, load1: loadavg()[0] ?? 0, memory_bytes: totalmem(), memory_used_bytes: totalmem() - freemem() },
      ...(of.drainBy && { drain_by: of.drainBy.toISOString() }),
      ...(of.refusal && { refused: of.refused, refusal: of.refusal }),
      protocol: PROTOCOL,
      version: of.settings.version,
      sdk: SDK,
      host: hostname() || "host",
      pid: process.pid,
      started_at: this.startedAt,
      at: at.toISOString(),
      control_secret: of.secret,
    });
  }
}

function conflict(of: Instance, other: Record<string, unknown>): string {
  return (
    `instance ${of.name} of group ${of.group} lives on host ${other.host}, process ${other.pid}: ` +
    "give each instance a name of its own (CARILLON_INSTANCE), or none, so that one is made"
  );
}
