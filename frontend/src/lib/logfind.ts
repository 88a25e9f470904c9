import type { LogLine } from "@/api/schema.gen";
import { plainText } from "./ansi";
import type { LogBuffer } from "./logbuffer";

/** What is looked for, as an expression; undefined when it is nothing, null when it is no expression. */
export function patternOf(needle: string, regex: boolean): RegExp | undefined | null {
  if (needle === "") return undefined;
  try {
    return new RegExp(regex ? needle : needle.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi");
  } catch {
    return null;
  }
}

/** The lines of a buffer that have something. Lines that were looked at are not looked at again. */
export class LogFinder {
  /** Their numbers, in order. */
  matches: number[] = [];
  private epoch = -1;
  private last = 0;
  private readonly buffer: LogBuffer;
  private readonly pattern: RegExp | undefined;
  private readonly skip: ReadonlySet<string>;

  /** Lines of the levels in skip have nothing. */
  constructor(buffer: LogBuffer, pattern: RegExp | undefined, skip: ReadonlySet<string>) {
    this.buffer = buffer;
    this.pattern = pattern && new RegExp(pattern.source, "i");
    this.skip = skip;
    this.sync();
  }

  sync(): number[] {
    if (!this.pattern) return this.matches;
    const { lines, epoch, first = 0 } = this.buffer;
    if (epoch !== this.epoch) {
      this.matches = [];
      this.last = 0;
      this.epoch = epoch;
    }
    if ((this.matches[0] ?? first) < first) this.matches = this.matches.filter((seq) => seq >= first);
    for (let i = this.buffer.indexOf(this.last + 1); i < lines.length; i++) {
      const line = lines[i];
      if (line && this.has(line)) this.matches.push(line.seq);
    }
    this.last = Math.max(this.last, this.buffer.last ?? 0);
    return this.matches;
  }

  private has(line: LogLine): boolean {
    return !this.skip.has(line.level) && (this.pattern?.test(plainText(line.text)) ?? false);
  }
}
