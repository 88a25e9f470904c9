/** Ends of runs on their way to JetStream: several in a message, if many runs end at once. */

import { randomBytes } from "node:crypto";

import { type Headers, TooLarge } from "./bus";
import type { Instance } from "./instance";
import { cut, MESSAGE, MSG_ID, TOKEN } from "./wire";

export const HEADROOM = 4 << 10; // for headers, which count in NATS' limit
const SHORT_MESSAGE = 1 << 10; // how long the message may be of an end that is too large
const MAX_ENDS = 256; // of a pack
const MAX_PACK = 256 << 10; // in bytes
const MAX_END = 32 << 10; // of one end in a pack

/** The end of an attempt, as an event. */
export interface End {
  subject: string;
  data: string;
  headers: Headers;
}

interface Waiting extends End {
  settle(stored: boolean): void;
}

/**
 * Stores the ends of attempts. An end for which nobody waits is sent at once while no other is on its way. Else it
 * waits until that one is stored, and goes with what has come meanwhile.
 */
export class Ends {
  private readonly waiting = new Map<string, Waiting[]>(); // by the subject of packs; one that is being sent to has an entry

  constructor(private readonly of: Instance) {}

  /** Publish an end until it is stored. False if the connection was closed before. report is where it may go in a pack. */
  untilStored(report: string | undefined, end: End): Promise<boolean> {
    if (report === undefined) {
      return this.alone(end);
    }
    return new Promise((settle) => {
      const others = this.waiting.get(report);
      if (others !== undefined) {
        others.push({ ...end, settle });
        return;
      }
      const waiting = [{ ...end, settle }];
      this.waiting.set(report, waiting);
      this.of.spawn(this.send(report, waiting));
    });
  }

  private async send(report: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const lines = this.fitting(waiting);
      const ends = waiting.splice(0, lines.length);
      const stored = await this.store(report, ends, lines);
      for (const [i, end] of ends.entries()) {
        end.settle(stored[i] ?? false);
      }
    }
    this.waiting.delete(report);
  }

  /** The lines of the first ends that fit into a pack; of one at least. */
  private fitting(waiting: End[]): string[] {
    let room = this.room() - Buffer.byteLength(this.head(MAX_ENDS));
    const lines: string[] = [];
    for (const end of waiting.slice(0, MAX_ENDS)) {
      const line = `{"token":${JSON.stringify(end.headers[TOKEN] ?? "")},${end.data.slice(1)}`;
      const size = Buffer.byteLength(line);
      room -= size + 1;
      const fits = room >= 0 && size <= MAX_END;
      if (fits || lines.length === 0) {
        lines.push(line);
      }
      if (!fits) {
        break; // it goes alone
      }
    }
    return lines;
  }

  private async store(report: string, ends: End[], lines: string[]): Promise<boolean[]> {
    if (lines.length > 1) {
      try {
        const stored = await this.pack(report, [this.head(lines.length), ...lines].join("\n"));
        return ends.map(() => stored);
      } catch (e) {
        if (!(e instanceof TooLarge)) {
          throw e;
        }
      }
    }
    const stored: boolean[] = [];
    for (const end of ends) {
      stored.push(await this.alone(end));
    }
    return stored;
  }

  /** Publish a pack until it is stored. It throws TooLarge if NATS has come back with a limit that is too small. */
  private pack(report: string, pack: string): Promise<boolean> {
    const data = () => {
      if (Buffer.byteLength(pack) > this.room()) {
        throw new TooLarge();
      }
      return pack;
    };
    return this.publish(report, data, { [MESSAGE]: "events.v1", [MSG_ID]: `p:${randomBytes(16).toString("base64url")}` });
  }

  private alone(end: End): Promise<boolean> {
    return this.publish(end.subject, () => fitted(end.data, this.of.bus.maxPayload), end.headers);
  }

  private publish(subject: string, data: () => string, headers: Headers): Promise<boolean> {
    return this.of.bus.untilStored(subject, data, headers, { onRepeat: () => this.of.telemetry.count("event_publish_retries") });
  }

  private room(): number {
    return Math.min(MAX_PACK, this.of.bus.maxPayload - HEADROOM);
  }

  private head(ends: number): string {
    return JSON.stringify({ instance: this.of.name, ends });
  }
}

/** The end of a run in JSON. One that NATS does not take would be refused for ever, so it is made shorter. */
export function fitted(end: string, maxPayload: number): string {
  const bytes = Buffer.byteLength(end);
  const most = maxPayload - HEADROOM;
  if (bytes <= most) {
    return end;
  }
  const { result, ...rest } = JSON.parse(end);
  const why = `the run's end event has ${bytes} bytes, but at most ${most} fit into the max_payload of NATS: the result was left out and the message cut; set max_payload to at least 1MB`;
  return JSON.stringify({ ...rest, message: cut([why, rest.message].filter(Boolean).join("; "), SHORT_MESSAGE) });
}
