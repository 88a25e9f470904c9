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
export const ROOM = 4 << 20; // bytes of lines that wait: a handler can log this much before the loop turns
const COST = 128; // of a line, beside its text
const LINGER = 15_000; // how long the end of a run waits for its lines

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

  constructor(
    private readonly send: (lines: Line[]) => Promise<void>,
    delivered: number,
    private readonly left: Limits = { lines: 1_000_000, bytes: 64 << 20 },
  ) {
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
      return true;
    }
    this.over++;
    if (!this.full) {
      this.full = true;
      this.push({ seq: ++this.seq, at, level: "warn", output: "system", text: "the log of this attempt is full: what follows is counted and dropped" });
    }
    return false;
  }

  private push(line: Line): void {
    const bytes = Buffer.byteLength(JSON.stringify(line.text)); // which is what a message has of it
    if (this.size + bytes + COST > ROOM) {
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
    let n = 0;
    for (; this.size > ROOM - ROOM / 8 && n < this.lines.length; n++) {
      this.size -= (this.lines[n]?.bytes ?? 0) + COST;
    }
    this.lines.splice(0, n);
    this.gap += n;
    this.dropped += n;
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
    if (!this.closed && !this.isBatchFull()) {
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
      batch.push(told(seq, `${this.gap} lines were dropped here: the log stream did not take them in time`));
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
    for (const { line, bytes } of this.lines.splice(0, n)) {
      this.size -= bytes + COST;
      batch.push(line);
    }
    return batch;
  }

  private async publish(batch: Line[]): Promise<void> {
    for (let wait = 250; !this.abandoned; wait = Math.min(2 * wait, 5000)) {
      try {
        await this.send(batch);
        this.sending = 0;
        return;
      } catch {
        this.retry = new AbortController();
        await pause(wait, this.retry.signal); // whatever it is, the lines are not stored
      }
    }
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
    this.lines = [];
    this.sending = 0;
    this.abandoned = true;
    this.retry?.abort(null);
  }
}

function told(seq: number, text: string): Line {
  return { seq, at: clock.now().toISOString(), level: "warn", output: "system", text };
}
