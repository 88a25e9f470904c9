import type { LogBuffer } from "./logbuffer";

/** The lines of a part of the time. */
export interface StripPart {
  lines: number;
  warn: number;
  error: number;
}

/** Parts never become more than this: then two of them become one. */
const most = 240;

/**
 * How many lines a log has over time, in equal parts, as many as there is a use for. It keeps what it
 * has counted: what is printed costs what is new.
 */
export class LogStrip {
  parts: StripPart[] = [];
  /** When the first part begins, and how long each is, in ms. */
  from = 0;
  step = 1;
  private epoch = -1;
  private last = 0;
  private readonly buffer: LogBuffer;

  constructor(buffer: LogBuffer) {
    this.buffer = buffer;
    this.sync();
  }

  get to(): number {
    return this.from + this.parts.length * this.step;
  }

  sync(): void {
    const { lines, epoch } = this.buffer;
    const first = lines[0];
    if (!first) return;
    const begin = Date.parse(first.at);
    if (epoch !== this.epoch) {
      this.parts = [];
      this.step = 1;
      this.last = 0;
      this.from = begin;
      this.epoch = epoch;
    }
    // What was before the first line that is held has left with it.
    const gone = Math.min(Math.floor((begin - this.from) / this.step), this.parts.length - 1);
    if (gone > 0) {
      this.parts.splice(0, gone);
      this.from += gone * this.step;
    }
    for (let i = this.buffer.indexOf(this.last + 1); i < lines.length; i++) {
      const line = lines[i];
      if (!line) continue;
      const part = this.at(Date.parse(line.at));
      part.lines++;
      if (line.level === "error") part.error++;
      else if (line.level === "warn") part.warn++;
    }
    this.last = this.buffer.last ?? 0;
  }

  /** Where an instant is, from 0 to 1. */
  share(at: number): number {
    return Math.min(1, Math.max(0, (at - this.from) / Math.max(1, this.to - this.from)));
  }

  private at(ms: number): StripPart {
    // A clock that steps back puts its lines into the first part.
    const index = () => Math.max(0, Math.floor((ms - this.from) / this.step));
    while (index() >= most) this.halve();
    for (let i = this.parts.length; i <= index(); i++) this.parts.push({ lines: 0, warn: 0, error: 0 });
    return this.parts[index()] ?? { lines: 0, warn: 0, error: 0 };
  }

  private halve(): void {
    const halved: StripPart[] = [];
    for (let i = 0; i < this.parts.length; i += 2) {
      const a = this.parts[i];
      const b = this.parts[i + 1];
      if (a)
        halved.push({
          lines: a.lines + (b?.lines ?? 0),
          warn: a.warn + (b?.warn ?? 0),
          error: a.error + (b?.error ?? 0),
        });
    }
    this.parts = halved;
    this.step *= 2;
  }
}
