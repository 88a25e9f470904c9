/** A connection that keeps what is sent, and stores everything. */

import { headers, type Msg, type NatsConnection } from "@nats-io/transport-node";

import { Bus, type Headers } from "../src/bus";
import { Executor, type ExecutorOptions } from "../src/executor";
import { Instance } from "../src/instance";
import { Logger } from "../src/log";
import { Requests } from "../src/requests";
import { complete, type Settings } from "../src/settings";
import { decode } from "../src/trigger";

export interface Sent {
  subject: string;
  data: string;
  headers: Headers;
}

/** A subscription, to which a test delivers. */
export interface Listener {
  subject: string;
  hear: (m: Msg) => void;
}

export class FakeNats {
  readonly sent: Sent[] = [];
  /** Subscriptions, newest last. One that is drained stays until the answer to a PING comes. */
  readonly listeners: Listener[] = [];
  /** What NATS had sent before it answered a PING. */
  onPing = async (): Promise<void> => {};
  /** What a request is answered with; JetStream's acknowledgement, unless a test says otherwise. */
  answer = (_sent: Sent): unknown => ({ stream: "EVT", seq: 1 });
  answerHeaders = (): Headers => ({});
  info: { max_payload: number } | undefined;
  private changed = () => {};

  publish(subject: string, data: string, options: { headers?: ReturnType<typeof headers> } = {}): void {
    const all: Headers = {};
    for (const name of options.headers?.keys() ?? []) {
      all[name] = options.headers?.get(name) ?? "";
    }
    this.sent.push({ subject, data, headers: all });
    this.changed();
  }

  async request(subject: string, data: string, options: { headers?: ReturnType<typeof headers> }): Promise<Msg> {
    this.publish(subject, data, options);
    const answer = await this.answer(this.sent.at(-1) as Sent);
    if (answer instanceof Error) {
      throw answer;
    }
    return message(subject, JSON.stringify(answer), { headers: this.answerHeaders() });
  }

  subscribe(subject: string, { callback }: { callback: (err: null, m: Msg) => void }) {
    const listener = { subject, hear: (m: Msg) => callback(null, m) };
    this.listeners.push(listener);
    const unsubscribe = () => {
      this.listeners.splice(0, this.listeners.length, ...this.listeners.filter((l) => l !== listener));
    };
    return { unsubscribe, drain: () => this.onPing().then(unsubscribe) };
  }

  /** Deliver to whoever listens to a subject. */
  deliver(subject: string, m: Msg): void {
    for (const listener of this.listeners.filter((l) => l.subject === subject)) {
      listener.hear(m);
    }
  }

  async *status() {}
  isClosed = () => false;
  flush = () => this.onPing();
  close = async () => {};

  of(subject: string): string[] {
    return this.sent.filter((s) => s.subject === subject).map((s) => s.data);
  }

  /** Wait until something that was sent is as wanted. The test's own limit ends this. */
  async until(wanted: (sent: Sent) => boolean): Promise<Sent> {
    for (;;) {
      const found = this.sent.find(wanted);
      if (found !== undefined) {
        return found;
      }
      await new Promise<void>((resolve) => {
        this.changed = resolve;
      });
    }
  }
}

export function message(subject: string, data: string, more: { reply?: string; headers?: Headers } = {}): Msg {
  const h = headers();
  for (const [name, value] of Object.entries(more.headers ?? {})) {
    h.set(name, value);
  }
  return { subject, data: Buffer.from(data), string: () => data, headers: h, reply: more.reply } as unknown as Msg;
}

export const quiet = new Logger(() => {});

export function settings(options: ExecutorOptions = {}): Settings {
  return complete({ group: "g", instance: "i", ...options }, {});
}

/** An instance of the executor on such a connection. Nothing turns its loop. */
export function instanceOf(app: Executor, options: ExecutorOptions = {}, log = quiet, stop = new AbortController().signal): { instance: Instance; nats: FakeNats } {
  const nats = new FakeNats();
  const instance = new Instance(settings(options), { handlers: app.handlers, middleware: app.middleware, log }, stop);
  instance.use(new Bus(nats as unknown as NatsConnection, instance.settings, log));
  return { instance, nats };
}

export const REPLY = "$JS.ACK.TRIG.any-g.1.17.9.1767578400000000000.0";

export function raw(more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    run_id: "019b8be1-f500-746c-9285-f6b4613a1707",
    job: "g/a",
    version: 1,
    shard: 3,
    attempt: 1,
    cause: "api",
    fire_time: "2026-01-05T02:00:00Z",
    committed_at: "2026-01-05T02:00:00.012Z",
    task: { handler: "h" },
    ...more,
  });
}

export function trigger(more: Record<string, unknown> = {}) {
  return decode(raw(more), "token", 1, "g");
}

/** A promise, and what resolves it. */
export function promise() {
  let resolve = () => {};
  const done = new Promise<void>((r) => {
    resolve = r;
  });
  return { done, resolve };
}

export type Of = ReturnType<typeof instanceOf>;

/** The answer of an instance to a request. */
export function ask(of: Of, verb: string, body = "", headers = {}) {
  const subject = `exec.g.i-${of.instance.secret}.${verb}`;
  new Requests(of.instance).hear(message(subject, body, { reply: "answer", headers: { "Carillon-Message": "request.v1", ...headers } }));
  return JSON.parse(of.nats.of("answer").at(-1) ?? "null");
}
