/** The connection to NATS, and messages that JetStream stores. */

import { createConnection, isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";

import { connect, createInbox, headers, type Msg, type NatsConnection, nkeyAuthenticator, type Subscription } from "@nats-io/transport-node";

import { textOf } from "./errors";
import { isDoubling, type Logger } from "./log";
import type { Settings } from "./settings";
import { pause } from "./time";

export type Headers = Record<string, string>;

/** JetStream has refused a message. */
export class Refused extends Error {
  override name = "Refused";

  constructor(
    readonly code: number,
    description: string,
  ) {
    super(description);
  }
}

/** NATS takes no message of this size any more. */
export class TooLarge extends Error {
  override name = "TooLarge";
}

export class Bus {
  connected = true;
  /** Called after each reconnection. */
  onReconnect = (): void => {};
  private closing = false;
  private denied = false; // something was, to this credential
  private errors = 0;

  constructor(
    private readonly nc: NatsConnection,
    private readonly settings: Settings,
    private readonly log: Logger,
  ) {
    void this.follow();
  }

  /** Connect. While NATS is away, or refuses us, try again, until the signal is aborted. */
  static async connect(settings: Settings, log: Logger, stop: AbortSignal): Promise<Bus | undefined> {
    for (let tries = 1, wait = 250; !stop.aborted; tries++, wait = Math.min(2 * wait, 5000)) {
      try {
        return new Bus(await connect(optionsOf(settings)), settings, log);
      } catch (e) {
        if (isDoubling(tries)) {
          log.warn(`${whyNot(e, settings, await asksForCertificate(settings.servers))} (trying again)`);
        }
        await pause(wait, stop);
      }
    }
    return undefined;
  }

  /** What to look at when a message is not stored. */
  ask(): string {
    return this.denied ? `is the credential for group ${this.settings.group}? Each is for one group` : "is a Carillon server running on this NATS?";
  }

  subscribe(subject: string, hear: (m: Msg) => void): Subscription {
    return this.nc.subscribe(subject, {
      callback: (err, m) => {
        if (err === null) {
          hear(m); // errors are heard by follow, too
        }
      },
    });
  }

  /** A subject for answers that no wildcard listens to. */
  inbox(): string {
    return createInbox(inboxPrefix(this.settings));
  }

  /** Publish, unless the connection is over. What is lost so comes again, or is told later. */
  publish(subject: string, data: string, more: { headers?: Headers; reply?: string } = {}): void {
    if (!this.nc.isClosed()) {
      this.nc.publish(subject, data, { ...(more.headers && { headers: asHeaders(more.headers) }), ...(more.reply && { reply: more.reply }) });
    }
  }

  /** The most bytes that a message may have, with its headers. */
  get maxPayload(): number {
    return this.nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
  }

  async request(subject: string, data: string, more: { headers?: Headers; timeout?: number } = {}): Promise<Msg> {
    if (Buffer.byteLength(data) > this.maxPayload) {
      throw new Error(`it has ${Buffer.byteLength(data)} bytes, and NATS takes ${this.maxPayload}: raise max_payload in nats.conf to at least 1MB`);
    }
    return await this.nc.request(subject, data, { timeout: more.timeout ?? 5000, headers: asHeaders(more.headers ?? {}) });
  }

  /** Publish once, and wait until JetStream has it. Throws Refused if it does not take it. */
  async stored(subject: string, data: string, headers: Headers): Promise<void> {
    const answer = JSON.parse((await this.request(subject, data, { headers })).string() || "{}");
    if (answer.error !== undefined) {
      throw new Refused(Number(answer.error.err_code ?? 0), String(answer.error.description ?? "refused"));
    }
    if (!answer.stream) {
      throw new Error("what came is no acknowledgement");
    }
  }

  /**
   * Publish until JetStream has it; data is asked for at each try. False if the connection was closed, or stop aborted,
   * before. It throws the TooLarge of data.
   */
  async untilStored(subject: string, data: () => string, headers: Headers, more: { stop?: AbortSignal; onRepeat?: () => void } = {}): Promise<boolean> {
    for (let tries = 1, wait = 250; !this.closing && !more.stop?.aborted; tries++, wait = Math.min(2 * wait, 5000)) {
      try {
        await this.stored(subject, data(), headers);
        return true;
      } catch (e) {
        if (e instanceof TooLarge) {
          throw e;
        }
        if (isDoubling(tries) && !this.closing) {
          this.log.warn(`not stored by NATS, tried again: ${subject}: ${textOf(e)}`, { tries });
        }
        more.onRepeat?.();
        await pause(wait, more.stop);
      }
    }
    return false;
  }

  /** Wait until all is here that NATS had sent, or lost with the connection. */
  async roundTrip(): Promise<void> {
    await this.nc.flush().catch(() => {});
  }

  /** Wait until NATS has had everything, but not for long. */
  async flush(): Promise<void> {
    await Promise.race([this.roundTrip(), pause(2000)]);
  }

  async close(): Promise<void> {
    this.closing = true;
    await this.nc.close().catch(() => {});
  }

  private async follow(): Promise<void> {
    for await (const status of this.nc.status()) {
      if (status.type === "disconnect" && !this.closing) {
        if (this.connected) {
          this.log.warn("disconnected from NATS; trying to connect again");
        }
        this.connected = false;
      } else if (status.type === "reconnect") {
        this.connected = true;
        this.log.info("connected to NATS again");
        this.onReconnect();
      } else if (status.type === "error") {
        this.errors++;
        this.denied ||= isDenial(status.error);
        if (isDoubling(this.errors)) {
          this.log.warn(`NATS: ${explain(status.error, this.settings)}`);
        }
      }
    }
  }
}

function inboxPrefix(settings: Settings): string {
  return `_INBOX_${settings.group}`;
}

function optionsOf(settings: Settings) {
  return {
    servers: settings.servers,
    name: `carillon executor ${settings.group}`,
    inboxPrefix: inboxPrefix(settings),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    ignoreAuthErrorAbort: true, // those that decide may be away
    timeout: 10_000,
    pingInterval: 2000,
    maxPingOut: 2,
    noAsyncTraces: true,
    ...(settings.tls && { tls: { ...settings.tls, checkServerIdentity: identityOf(settings.servers) } }),
    ...(settings.credential && { authenticator: nkeyAuthenticator(Buffer.from(settings.credential)) }),
  };
}

function urlOf(server: string): URL {
  return new URL(server.includes("://") ? server : `nats://${server}`);
}

function hostOf(server: string): string {
  return urlOf(server).hostname.replaceAll(/^\[|\]$/g, "");
}

/** Compares the certificate of a server that is named by its address with that: NATS' client has it compared with "localhost". */
function identityOf(servers: string[]) {
  const hosts = servers.map(hostOf);
  return (host: string, certificate: PeerCertificate): Error | undefined => {
    const addresses = hosts.filter((h) => isIP(h) !== 0);
    const names = host !== "localhost" || hosts.includes(host) || addresses.length === 0 ? [host] : addresses;
    const errors = names.map((name) => checkServerIdentity(name, certificate));
    return errors.includes(undefined) ? undefined : errors[0];
  };
}

/** Whether NATS asks for a client certificate. By TLS 1.3 it refuses one after the handshake, of which its client says nothing. */
async function asksForCertificate(servers: string[]): Promise<boolean> {
  for (const server of servers) {
    const socket = createConnection(Number(urlOf(server).port || 4222), hostOf(server));
    socket.setTimeout(2000, () => socket.destroy());
    try {
      let text = "";
      for await (const data of socket) {
        text += data;
        const info = /^INFO (.*)\r\n/.exec(text)?.[1];
        if (info !== undefined) {
          return JSON.parse(info).tls_verify === true;
        }
      }
    } catch {
      // ask the next one
    }
  }
  return false;
}

function asHeaders(from: Headers) {
  const h = headers();
  for (const [name, value] of Object.entries(from)) {
    h.set(name, value);
  }
  return h;
}

/** Why there is no connection, and what to do. */
export function whyNot(e: unknown, settings: Settings, asksForCertificate = false): string {
  const at = settings.servers.join(",");
  const why = reasonsOf(e);
  if (/authorization|authentication/i.test(why)) {
    return `NATS at ${at} ${aboutCredential(settings)} (${why})`;
  }
  if (/\balert\b/.test(why) || (asksForCertificate && !/certificate|self.signed/i.test(why))) {
    return `NATS at ${at} ${aboutCertificate(settings)} (${why})`;
  }
  if (/certificate|self.signed|tls|ssl/i.test(why)) {
    return `cannot connect to NATS at ${at} by TLS: ${why}; CARILLON_NATS_CA must name the file of its certificate authority`;
  }
  return `cannot connect to NATS at ${at}: ${why}; is it running, and is CARILLON_NATS right?`;
}

/** An error of a connection, and what to do. */
export function explain(e: Error, settings: Settings): string {
  const text = textOf(e);
  if (isDenial(e)) {
    const subject = text.replace(/-[0-9a-f]{40}/, "-…"); // which is the secret of this instance
    return `${subject}; each credential is for one group: check that this one is for group ${settings.group}`;
  }
  return /authorization|authentication/i.test(text) ? `it ${aboutCredential(settings)} (${text})` : text;
}

function isDenial(e: Error): boolean {
  return /permissions violation/i.test(textOf(e));
}

function aboutCredential(settings: Settings): string {
  const make = `make one with: carillon credential create NAME -g ${settings.group} --file FILE`;
  return settings.credential === ""
    ? `wants a credential: set CARILLON_CREDENTIAL_FILE; ${make}`
    : `refuses the credential: is it for group ${settings.group}, and not revoked? Else ${make}`;
}

function aboutCertificate(settings: Settings): string {
  return settings.tls?.certFile === undefined
    ? "asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY"
    : `refuses the client certificate ${settings.tls.certFile}: is it valid, and of an authority that NATS trusts?`;
}

/** The texts of an error and its causes: that of a refused connection is in the cause. */
function reasonsOf(e: unknown): string {
  const texts: string[] = [];
  for (let at: unknown = e; at instanceof Error && texts.length < 5; at = at.cause) {
    texts.push(textOf(at));
  }
  return [...new Set(texts)].join(": ") || textOf(e);
}
