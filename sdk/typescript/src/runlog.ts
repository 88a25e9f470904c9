/** The log of one attempt: numbered lines, in batches, one batch on its way at a time. */

import type { Level } from "./log";
import { pieces } from "./pieces";
import { clock, pause } from "./time";
import { cut } from "./wire";

export type Output = "stdout" | "stderr" | "log" | "system";

export interface Line {
  seq: number;
  at: string;
  level: Level;
  output: Output;
  text: string;
}

interface Waiting {
  line: Line;
  bytes: number;
}

/** How much an attempt may log. */
export interface Limits {
  lines: number;
  bytes: number;
}

export const BATCH_LINES = 200;
const BATCH_BYTES = 64 << 10;
const DELAY = 100; // how old the first line of a batch may get
const ROOM = 16 << 20; // bytes of lines that wait, of all runs of the process: so much can be logged before the loop turns
export const OWN = 64 << 10; // bytes of a run's lines that may wait whatever those of others take
const COST = 128; // of a line, beside its text
const STALL = 1000; // how long the stream may take before flush stops waiting for it
const PARTS = 20; // of a message that are searched for in what the run printed
const TAIL = 8 << 10; // characters of what the run printed last that are kept for the last line
const LINGER = 15_000; // how long the end of a run waits for its lines

/** How many bytes of lines wait, of all runs that share it. */
export class Room {
  private used = 0;

  constructor(private readonly most = ROOM) {}

  /** Take room for a line of a run whose lines have so many bytes already. False if there is none. */
  take(cost: number, own: number): boolean {
    const fits = this.used + cost <= this.most || own + cost <= OWN || own === 0;
    this.used += fits ? cost : 0;
    return fits;
  }

  give(cost: number): void {
    this.used -= cost;
  }
}

const shared = new Room();

export class RunLog {
  /** How many lines the attempt has logged. */
  count = 0;
  /** How many lines were given up. */
  dropped = 0;
  mask = (text: string): string => text;

  private lines: Waiting[] = [];
  private sending = 0; // lines on their way
  private size = 0;
  private seq: number;
  private gap = 0; // lines dropped since the last batch
  private over = 0; // lines beyond the limits
  private full = false;
  private closed = false;
  private pumping: Promise<void> | undefined;
  private wake: AbortController | undefined; // ends the wait for more lines
  private retry: AbortController | undefined; // ends the wait for another try
  private abandoned = false;
  private tail = ""; // of what the run printed
  private stalled = false; // the stream does not take lines
  private flushing: (() => void)[] = []; // called when lines are stored, or cannot be
  private readonly notice: string;

  constructor(
    private readonly send: (lines: Line[]) => Promise<void>,
    delivered: number,
    private readonly left: Limits = { lines: 1_000_000, bytes: 64 << 20 },
    private readonly room = shared,
  ) {
    this.notice = `the log of this attempt is full: it may have ${left.lines} lines and ${left.bytes} bytes; what follows is counted and dropped`;
    this.seq = (delivered - 1) * 1_000_000_000;
  }

  /** Log a text, a line for each of its lines. It never throws, and does not wait. */
  add(output: Output, level: Level, text: string): void {
    if (this.closed) {
      return;
    }
    const at = clock.now().toISOString();
    for (const line of this.mask(text).toWellFormed().split(/\r?\n/)) {
      for (const piece of pieces(line.replaceAll("\r", " "))) {
        this.append(output, level, piece, at);
      }
    }
    this.pumping ??= this.pump();
  }

  /** Log what the executor has to say about the run. */
  system(level: Level, text: string): void {
    this.add("system", level, cut(text));
  }

  /** Log how the run ended and why, without the part of the message that the run has just printed. */
  end(status: string, message: string): void {
    const why = unprinted(cut(message), this.tail);
    this.system("error", `the run ended as ${status}${why && `: ${why}`}`);
  }

  private append(output: Output, level: Level, text: string, at: string): void {
    if (output !== "system" && !this.fits(text, at)) {
      return;
    }
    this.push({ seq: ++this.seq, at, level, output, text });
  }

  /** Count a line of the handler, and say once that there are too many. */
  private fits(text: string, at: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (!this.full && this.left.lines > 0 && this.left.bytes >= bytes) {
      this.left.lines--;
      this.left.bytes -= bytes;
      this.keep(text);
      return true;
    }
    this.over++;
    if (!this.full) {
      this.full = true;
      this.push({ seq: ++this.seq, at, level: "warn", output: "system", text: this.notice });
    }
    return false;
  }

  /** Keep the end of what the run printed. */
  private keep(text: string): void {
    if (this.tail.length > 2 * TAIL) {
      this.tail = this.tail.slice(-TAIL);
    }
    this.tail += `${text.slice(-TAIL)}\n`;
  }

  private push(line: Line): void {
    const bytes = Buffer.byteLength(JSON.stringify(line.text)); // which is what a message has of it
    while (!this.room.take(bytes + COST, this.size)) {
      this.makeRoom();
    }
    this.lines.push({ line, bytes });
    this.size += bytes + COST;
    this.count++;
    if (this.isBatchFull()) {
      this.wake?.abort(null);
    }
  }

  /** Drop the oldest lines, some more than needed: it takes as long for one as for all. */
  private makeRoom(): void {
    const enough = this.size - this.size / 8;
    let n = 0;
    while (this.size > enough) {
      this.leave(this.lines[n++]);
    }
    this.lines.splice(0, n);
    this.gap += n;
    this.dropped += n;
  }

  /** Return the room of a line. */
  private leave(line: Waiting | undefined): void {
    const cost = (line?.bytes ?? 0) + COST;
    this.size -= cost;
    this.room.give(cost);
  }

  /** Send what there is, until nothing is left. */
  private async pump(): Promise<void> {
    do {
      await this.untilDue();
      const batch = this.batch();
      if (batch.length > 0) {
        await this.publish(batch);
      }
    } while (this.lines.length > 0 && !this.abandoned);
    this.pumping = undefined;
  }

  private async untilDue(): Promise<void> {
    if (!this.closed && !this.isBatchFull() && this.flushing.length === 0) {
      this.wake = new AbortController();
      await pause(DELAY, this.wake.signal);
    }
  }

  private isBatchFull(): boolean {
    return this.lines.length >= BATCH_LINES || this.size >= BATCH_BYTES;
  }

  private batch(): Line[] {
    const batch: Line[] = [];
    if (this.gap > 0) {
      const seq = (this.lines[0]?.line.seq ?? this.seq + 1) - 1;
      const text = this.gap === 1 ? "1 line was dropped here: the log stream did not take it in time" : `${this.gap} lines were dropped here: the log stream did not take them in time`;
      batch.push(told(seq, text));
      this.gap = 0;
    }
    let n = 0;
    for (let bytes = 0; n < this.lines.length && n < BATCH_LINES; n++) {
      bytes += this.lines[n]?.bytes ?? 0;
      if (n > 0 && bytes > BATCH_BYTES) {
        break;
      }
    }
    this.sending = n;
    for (const waiting of this.lines.splice(0, n)) {
      this.leave(waiting);
      batch.push(waiting.line);
    }
    return batch;
  }

  private async publish(batch: Line[]): Promise<void> {
    for (let wait = 250; !this.abandoned; wait = Math.min(2 * wait, 5000)) {
      const slow = setTimeout(() => this.moved(true), STALL);
      try {
        await this.send(batch);
        this.sending = 0;
        this.moved(false);
        return;
      } catch {
        this.moved(true);
        this.retry = new AbortController();
        await pause(wait, this.retry.signal); // whatever it is, the lines are not stored
      } finally {
        clearTimeout(slow);
      }
    }
  }

  /** Lines were stored, or could not be. */
  private moved(stalled: boolean): void {
    this.stalled = stalled;
    for (const look of this.flushing.splice(0)) {
      look();
    }
  }

  /** Wait until the lines so far are stored, for as long as the stream takes lines. */
  async flush(): Promise<void> {
    const last = this.seq;
    while (!this.abandoned && (this.sending > 0 || (this.lines[0]?.line.seq ?? Number.POSITIVE_INFINITY) <= last)) {
      await new Promise<void>((resolve) => {
        this.flushing.push(resolve);
        this.wake?.abort(null);
      });
      if (this.stalled) {
        return;
      }
    }
  }

  /** What is wrong with the log, for the message of the run; "" if nothing is. */
  get note(): string {
    return this.dropped > 0 ? `the log is incomplete: NATS did not take ${this.dropped} of ${this.count} lines in time` : "";
  }

  /** End the log, wait a while until its lines are stored, and return how many there were. */
  async close(): Promise<number> {
    if (this.over > 0) {
      this.push(told(++this.seq, `${this.over} lines were dropped here: the log was full`));
      this.over = 0;
    }
    this.closed = true;
    if (this.lines.length === 0 && this.pumping === undefined) {
      return this.count;
    }
    this.wake?.abort(null);
    const limit = new AbortController();
    const late = pause(LINGER, limit.signal);
    while (this.lines.length > 0 || this.pumping !== undefined) {
      this.pumping ??= this.pump();
      if (await Promise.race([this.pumping.then(() => false), late.then(() => true)])) {
        break;
      }
    }
    limit.abort(null);
    return this.count;
  }

  /** Give up lines that are not stored. */
  abandon(): void {
    this.dropped += this.lines.length + this.sending;
    for (const line of this.lines) {
      this.leave(line);
    }
    this.lines = [];
    this.sending = 0;
    this.abandoned = true;
    this.moved(true);
    this.retry?.abort(null);
  }
}

/** A message without its end, from its beginning or a colon or semicolon on, that ends a line of the tail. */
function unprinted(message: string, tail: string): string {
  const parts = Array.from(message.matchAll(/^|[:;]\s*/g)).slice(0, PARTS);
  for (const part of parts) {
    const start = part.index + part[0].length;
    if (endsLine(message.slice(start), tail)) {
      return message.slice(0, start).replace(/[:; ]+$/, "");
    }
  }
  return message;
}

/** Whether a line ends with a text, from the start of a word on. If the text was cut, it need not be the end. */
function endsLine(text: string, tail: string): boolean {
  const printed = text.endsWith("…") ? text.slice(0, -1) : `${text}\n`;
  if (text === "" || printed === "") {
    return false;
  }
  for (let at = tail.indexOf(printed); at >= 0; at = tail.indexOf(printed, at + 1)) {
    if (!/[\p{L}\p{N}_]$/u.test(tail.slice(Math.max(0, at - 2), at))) {
      return true;
    }
  }
  return false;
}

function told(seq: number, text: string): Line {
  return { seq, at: clock.now().toISOString(), level: "warn", output: "system", text };
}
