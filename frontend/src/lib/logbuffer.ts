import type { LogLine } from "@/api/schema.gen";

/** How many lines a browser holds. What is older leaves, and can be read again. */
export const maxLines = 200_000;

/**
 * The lines of one attempt that the browser holds: in order of seq, each once, a
 * window of the whole log. Lines come from a live tail and from pages, at either end; what there
 * is no room for leaves at the other. version grows with each change, so that a view can tell, and
 * epoch with each that is more than lines after those held.
 */
export class LogBuffer {
  lines: LogLine[] = [];
  version = 0;
  epoch = 0;
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

  /** Adds lines after those held. Those that are not newer are repeats, and dropped. Tells whether the first ones had to leave. */
  append(lines: LogLine[]): boolean {
    const last = this.last ?? 0;
    const fresh = lines.length > 0 && (lines[0]?.seq ?? 0) > last ? lines : lines.filter((l) => l.seq > last);
    if (fresh.length === 0) return false;
    for (const line of fresh) {
      this.lines.push(line);
      this.count(line, 1);
    }
    this.version++;
    const over = this.lines.length - this.limit;
    if (over <= 0) return false;
    // In chunks: to shift an array of this size for every line would cost more than the lines.
    const n = over + Math.floor(this.limit / 20);
    for (const line of this.lines.slice(0, n)) this.count(line, -1);
    this.lines = this.lines.slice(n);
    return true;
  }

  /** Adds lines before those held. Tells whether the last ones had to leave. */
  prepend(lines: LogLine[]): boolean {
    const first = this.first ?? Number.POSITIVE_INFINITY;
    const older = lines.filter((l) => l.seq < first);
    if (older.length === 0) return false;
    for (const line of older) this.count(line, 1);
    const all = older.concat(this.lines);
    for (const line of all.slice(this.limit)) this.count(line, -1);
    this.lines = all.slice(0, this.limit);
    this.version++;
    this.epoch++;
    return all.length > this.limit;
  }

  /** Holds these lines and no others: another part of the log. */
  replace(lines: LogLine[]): void {
    this.lines = [];
    this.counts = {};
    this.bytes = 0;
    this.epoch++;
    this.version++;
    this.append(lines);
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
