import type { LogLine } from "@/api/schema.gen";

/** How many lines a browser holds. What is older leaves, and can be read again. */
export const maxLines = 200_000;

/**
 * The lines of one attempt that the browser holds: in order of seq, each once, a
 * window of the whole log. Lines come from a live tail at the end and from pages before the
 * beginning. version grows with each change, so that a view can tell.
 */
export class LogBuffer {
  lines: LogLine[] = [];
  version = 0;
  /** Lines at each level, of those held. */
  counts: Record<string, number> = {};
  /** Bytes of text held, roughly. */
  bytes = 0;
  private readonly limit: number;

  constructor(limit: number = maxLines) {
    this.limit = limit;
  }

  get first(): number | undefined {
    return this.lines[0]?.seq;
  }

  get last(): number | undefined {
    return this.lines.at(-1)?.seq;
  }

  /** Adds lines after those held. Those that are not newer are repeats, and dropped. */
  append(lines: LogLine[]): void {
    const last = this.last ?? 0;
    const fresh = lines.length > 0 && (lines[0]?.seq ?? 0) > last ? lines : lines.filter((l) => l.seq > last);
    if (fresh.length === 0) return;
    for (const line of fresh) {
      this.lines.push(line);
      this.count(line, 1);
    }
    if (this.lines.length > this.limit) {
      // In chunks: to shift an array of this size for every line would cost more than the lines.
      this.drop(this.lines.length - this.limit + Math.floor(this.limit / 20));
    }
    this.version++;
  }

  /** Adds lines before those held, as far as there is room. */
  prepend(lines: LogLine[]): void {
    const first = this.first ?? Number.POSITIVE_INFINITY;
    const room = this.limit - this.lines.length;
    const older = lines.filter((l) => l.seq < first).slice(-room);
    if (older.length === 0 || room <= 0) return;
    for (const line of older) this.count(line, 1);
    this.lines = older.concat(this.lines);
    this.version++;
  }

  /** Where the line with this number is, or would be. */
  indexOf(seq: number): number {
    let lo = 0;
    let hi = this.lines.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if ((this.lines[mid]?.seq ?? 0) < seq) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  private drop(n: number): void {
    for (const line of this.lines.slice(0, n)) this.count(line, -1);
    this.lines = this.lines.slice(n);
  }

  private count(line: LogLine, by: 1 | -1): void {
    this.counts[line.level] = (this.counts[line.level] ?? 0) + by;
    this.bytes += by * line.text.length;
  }
}

/** The part of a list of equally high rows that is on the screen, and a little more. */
export function visibleRows(
  scrollTop: number,
  height: number,
  row: number,
  total: number,
  extra = 12,
): [number, number] {
  const from = Math.max(0, Math.floor(scrollTop / row) - extra);
  const to = Math.min(total, Math.ceil((scrollTop + height) / row) + extra);
  return [Math.min(from, to), to];
}
