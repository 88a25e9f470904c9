/** Requests to this instance: run, kill, drain and the others. */

import type { Msg } from "@nats-io/transport-node";

import { textOf } from "./errors";
import type { Refusal } from "./heart";
import type { Instance } from "./instance";
import type { ConsumerName } from "./pull";
import { milliseconds } from "./time";
import { decode, isObject, isWhole, keyOf } from "./trigger";
import { ACK, ALONE, delivery, MAX_LABELS, MESSAGE, PACK, RESUME, ROUTE_REASON, TOKEN, TRACE } from "./wire";

type Answer = Record<string, unknown>;

const KINDS = ["handler", "shell", "command", "http", "script"];

/** A request that makes no sense. */
class Invalid extends Error {}

export class Requests {
  private readonly prefix: string;
  private readonly verbs: ReadonlyMap<string, (m: Msg) => Answer>;

  constructor(private readonly of: Instance) {
    this.prefix = `exec.${of.group}.${of.name}-${of.secret}.`;
    this.verbs = new Map([
      ["run", (m) => this.run(m)],
      ["beat", () => this.beat()],
      ["idle", (m) => this.idle(m)],
      ["drain", (m) => this.drain(m)],
      ["cordon", () => this.cordon()],
      ["uncordon", () => this.uncordon()],
      ["set", (m) => this.set(m)],
      ["attempts", (m) => this.attempts(m)],
      ["kill", (m) => this.kill(m)],
      ["consumers", (m) => this.consumers(m)],
      ["refused", (m) => this.refused(m)],
    ]);
  }

  async listen(): Promise<void> {
    this.of.bus.subscribe(`${this.prefix}*`, (m) => this.hear(m));
    await this.of.bus.flush();
  }

  hear(m: Msg): void {
    if (!m.subject.startsWith(this.prefix) || m.headers?.get(MESSAGE) !== "request.v1") {
      return;
    }
    if (m.headers.keys().some((name) => /^nats-/i.test(name) && name.toLowerCase() !== "nats-request-info")) {
      return; // JetStream may have sent it
    }
    this.answer(m, this.valueOf(m));
  }

  private valueOf(m: Msg): Answer {
    const { of } = this;
    const verb = m.subject.slice(this.prefix.length);
    try {
      const act = this.verbs.get(verb);
      if (act === undefined) {
        throw new Invalid(`verb ${JSON.stringify(verb)} is not known`);
      }
      const more = act(m);
      const drainBy = of.drainBy && { drain_by: of.drainBy.toISOString() };
      return { value: { instance: of.name, answer: "accepted", state: of.state, running: of.attempts.live.size, slots: of.slots, ...drainBy, ...more } };
    } catch (e) {
      return { fault: { kind: "invalid", text: textOf(e) } };
    }
  }

  private answer(m: Msg, value: Answer): void {
    if (m.reply) {
      this.of.bus.publish(m.reply, JSON.stringify(value));
    }
  }

  private run(m: Msg): Answer {
    const { of } = this;
    const late = of.isLate();
    const header = (name: string) => m.headers?.get(name) ?? "";
    const ack = header(ACK);
    const delivered = delivery(ack).count + (m.headers?.has(PACK) ? 1 : 0);
    const t = decode(m.string(), header(TOKEN), delivered, of.group, header(TRACE));
    if (of.attempts.continues(t, ack)) {
      return {};
    }
    if (m.headers?.has(RESUME)) {
      return { answer: "gone" };
    }
    const kind = KINDS.find((k) => t.raw.task[k]) ?? "handler";
    if (kind !== "handler") {
      return { answer: "unknown_kind", detail: "this executor runs handlers" };
    }
    if (!of.handlers.has(t.handler)) {
      return { answer: "unknown_handler", detail: `handlers here: ${[...of.handlers.keys()].sort().join(", ") || "none"}` };
    }
    if (of.state !== "online") {
      return { answer: of.state };
    }
    if (late || (of.attempts.free() < 1 && !of.attempts.isReserved(ack)) || of.attempts.isFull(t.handler)) {
      return { answer: "busy" };
    }
    const alone = seconds(header(ALONE));
    if ((alone > 0 && of.attempts.live.size > 0) || of.attempts.isAlone()) {
      return { answer: "busy" };
    }
    of.attempts.alone = { key: t.key, until: performance.now() + 1000 * alone };
    of.attempts.start(t, ack, header(ROUTE_REASON));
    return {};
  }

  private beat(): Answer {
    return this.of.state === "online" ? {} : { answer: this.of.state };
  }

  private idle(m: Msg): Answer {
    const { job } = body(m);
    if (this.of.state !== "online") {
      return { answer: this.of.state };
    }
    const here = [...this.of.attempts.live.values()].some((a) => a.trigger.raw.job === job);
    return here || this.of.attempts.free() < 1 ? { answer: "busy" } : {};
  }

  private drain(m: Msg): Answer {
    const { within } = body(m);
    if (within !== undefined && typeof within !== "string") {
      throw new Invalid("within must be a duration such as 30m");
    }
    this.of.drain(within === undefined ? undefined : milliseconds(within));
    return {};
  }

  private cordon(): Answer {
    if (this.of.state === "online") {
      this.of.change("cordoned");
    }
    return {};
  }

  private uncordon(): Answer {
    return this.of.uncordon() ? {} : { answer: "draining", detail: "it is stopping" };
  }

  private set(m: Msg): Answer {
    const { slots, labels } = body(m);
    if (slots !== undefined && (!isWhole(slots, 1) || slots > 10_000)) {
      throw new Invalid(`slots ${JSON.stringify(slots)} must be between 1 and 10000`);
    }
    if (labels !== undefined && !isTexts(labels)) {
      throw new Invalid("labels must be an object of texts");
    }
    const bytes = Buffer.byteLength(JSON.stringify(labels ?? {}));
    if (bytes > MAX_LABELS) {
      throw new Invalid(`labels have ${bytes} bytes; at most ${MAX_LABELS} are allowed`);
    }
    this.of.set(slots, labels);
    return {};
  }

  private consumers(m: Msg): Answer {
    const { consumers } = body(m);
    if (!Array.isArray(consumers) || consumers.length < 1 || consumers.length > MAX_CONSUMERS) {
      throw new Invalid(`consumers must be a list of 1 to ${MAX_CONSUMERS}`);
    }
    if (!consumers.every(isConsumer)) {
      throw new Invalid("each of consumers needs stream and consumer: 1 to 128 letters, digits, hyphens and underscores");
    }
    if (new Set(consumers.map((c) => `${c.stream}.${c.consumer}`)).size < consumers.length) {
      throw new Invalid("consumers: one is there twice");
    }
    this.of.pullFrom(consumers);
    return {};
  }

  private refused(m: Msg): Answer {
    const { stream, sequence, subject, reason, at } = body(m);
    if (![stream, subject, reason, at].every((text) => typeof text === "string") || !isWhole(sequence, 1)) {
      throw new Invalid("a refusal needs stream, sequence, subject, reason and at");
    }
    this.of.refusedBy({ stream, sequence, subject, reason, at } as Refusal);
    return {};
  }

  private attempts(m: Msg): Answer {
    const { attempts } = body(m);
    if (!Array.isArray(attempts)) {
      throw new Invalid("attempts must be a list");
    }
    return { attempts: attempts.map((a) => this.custody(a)) };
  }

  private custody(a: unknown): string {
    if (!isObject(a) || typeof a.run_id !== "string" || !isWhole(a.attempt, 1)) {
      throw new Invalid("an attempt needs run_id and attempt");
    }
    return this.of.attempts.custody(keyOf(a.run_id, a.attempt, a.broadcast_index));
  }

  private kill(m: Msg): Answer {
    const { run_id: runId, by, reason } = body(m);
    if (typeof runId !== "string") {
      throw new Invalid("run_id is missing");
    }
    const found = this.of.attempts.kill(runId, `cancelled by ${by || "somebody"}${reason ? `: ${reason}` : ""}`);
    if (found.length === 0) {
      return { answer: "gone" };
    }
    const pieces = found.filter((a) => a.trigger.total > 0).map((a) => a.trigger.index);
    return pieces.length > 0 ? { pieces: pieces.sort((x, y) => x - y) } : {};
  }
}

/** For how many seconds a run wants the instance for itself. */
function seconds(text: string): number {
  const n = Number(text);
  if (text !== "" && (!isWhole(n, 1) || n > 3600)) {
    throw new Invalid(`${ALONE} ${JSON.stringify(text)} must be a number of seconds from 1 to 3600`);
  }
  return n;
}

function body(m: Msg): Record<string, unknown> {
  const value: unknown = m.data.length > 0 ? JSON.parse(m.string()) : {};
  if (!isObject(value)) {
    throw new Invalid("the body must be an object");
  }
  return value;
}

const MAX_CONSUMERS = 64;
const CONSUMER = /^[A-Za-z0-9_-]{1,128}$/;

function isConsumer(value: unknown): value is ConsumerName {
  return isObject(value) && [value.stream, value.consumer].every((name) => typeof name === "string" && CONSUMER.test(name));
}

function isTexts(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.values(value).every((text) => typeof text === "string");
}
