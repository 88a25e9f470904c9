import type { LogLine } from "@/api/schema.gen";
import { plainText } from "./ansi";
import { indented } from "./json";
import type { LogBuffer } from "./logbuffer";

/** What of a line is drawn. One of a megabyte would take a second to lay out. */
export const drawn = 2000;
/** So many frames of a stack trace are shown; the others are behind a row that says how many. */
export const frames = 3;
/** So many lines of a document are shown. */
const mostJson = 500;

/** A row that is no whole line: a part of one that is wrapped, a line of its JSON, or lines that are folded. */
export interface Extra {
  kind: "part" | "json" | "fold";
  seq: number;
  line: LogLine;
  /** Of a part: which characters of the line, as they are seen. */
  from: number;
  to: number;
  /** Of a line of JSON: it. */
  text: string;
  /** Of a fold: how many lines are behind it. */
  folded: number;
}

export type Row = LogLine | Extra;

export const isExtra = (row: Row): row is Extra => "kind" in row;

/** How lines become rows. A change of any makes all rows anew. */
export interface Layout {
  /** Levels that are not shown. */
  hidden: ReadonlySet<string>;
  /** How many characters a row has room for; 0 is any number. */
  columns: number;
  /** The folds that are open, and the lines whose JSON is shown, by seq. */
  open: ReadonlySet<number>;
}

/**
 * The rows of a log, all of one height, so that those on the screen are found without a look at any other.
 * What is printed costs what is new: lines that are there are not looked at again.
 */
export class LogRows {
  rows: Row[] = [];
  private epoch = -1;
  private last = 0;
  private trace = 0;
  private fold: Extra | undefined;
  private opened = false;
  private readonly buffer: LogBuffer;
  private readonly layout: Layout;

  constructor(buffer: LogBuffer, layout: Layout) {
    this.buffer = buffer;
    this.layout = layout;
    this.sync();
  }

  /** Takes over what has changed in the buffer. */
  sync(): Row[] {
    const { lines, epoch, first = 0 } = this.buffer;
    if (epoch !== this.epoch) {
      this.rows = [];
      this.last = 0;
      this.trace = 0;
      this.fold = undefined;
      this.epoch = epoch;
    }
    if ((this.rows[0]?.seq ?? first) < first) this.rows = this.rows.slice(this.rowOf(first));
    for (let i = this.buffer.indexOf(this.last + 1); i < lines.length; i++) {
      const line = lines[i];
      if (line) this.add(line);
    }
    this.last = Math.max(this.last, this.buffer.last ?? 0);
    return this.rows;
  }

  /** The first row of a line, or of the fold that it is behind; or where it would be. */
  rowOf(seq: number): number {
    let lo = 0;
    let hi = this.rows.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      const row = this.rows[mid];
      const last = row && isExtra(row) && row.kind === "fold" ? row.to : (row?.seq ?? 0);
      if (last < seq) lo = mid + 1;
      else hi = mid;
    }
    return lo;
  }

  private add(line: LogLine): void {
    if (this.layout.hidden.has(line.level)) return;
    if (this.behindFold(line)) return;
    const shown = line.text.length > drawn ? line.text.slice(0, drawn) : line.text;
    const { columns, open } = this.layout;
    if (columns > 0 && shown.length * 2 > columns) {
      const text = plainText(shown);
      const cuts = cutsOf(text, columns);
      if (cuts.length > 2) {
        for (let i = 0; i + 1 < cuts.length; i++)
          this.rows.push(extra("part", line, { from: cuts[i] ?? 0, to: cuts[i + 1] ?? text.length }));
      } else this.rows.push(line);
    } else this.rows.push(line);
    if (open.has(line.seq))
      for (const text of (indented(plainText(line.text)) ?? []).slice(0, mostJson))
        this.rows.push(extra("json", line, { text }));
  }

  /** Whether a line is a frame of a stack trace that is folded. */
  private behindFold(line: LogLine): boolean {
    const begins = isFrame(line.text);
    if (!begins && (this.trace === 0 || !continues(line.text))) {
      this.trace = 0;
      this.fold = undefined;
      this.opened = false;
      return false;
    }
    if (begins) this.trace++;
    if (this.trace <= frames || this.opened) return false;
    if (!this.fold) {
      if (this.layout.open.has(line.seq)) {
        this.opened = true;
        return false;
      }
      this.fold = extra("fold", line, {});
      this.rows.push(this.fold);
    }
    this.fold.folded++;
    this.fold.to = line.seq;
    return true;
  }
}

function extra(kind: Extra["kind"], line: LogLine, rest: Partial<Extra>): Extra {
  return { kind, seq: line.seq, line, from: 0, to: 0, text: "", folded: 0, ...rest };
}

// Java, JavaScript and .NET; Python; Go; PHP and debuggers; Ruby; Rust.
const frame = /^\s+(?:at\s|File ".*", line \d|\S+\.go:\d+|from \S+:\d|\d+: \S)|^\s*#\d+\s/;

/** Whether a line of a log is a frame of a stack trace. */
export function isFrame(text: string): boolean {
  const c = text.charCodeAt(0);
  return (c === 32 || c === 9 || c === 35) && frame.test(text.length > 400 ? text.slice(0, 400) : text);
}

/** Whether a line goes on with a trace: the code of a frame, "... 5 more", or the function above a frame of Go. */
function continues(text: string): boolean {
  return /^\s+\S|^created by |^[\w./*()]+\(.*\)$/.test(text.slice(0, 400));
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\ud83c-\ud83e\ud840-\ud8bf][\udc00-\udfff]/;
const plainOnly = /^[\x20-\x7e]*$/;

/** Where a text is cut so that each part has room in so many columns: its beginning, each cut, and its end. */
export function cutsOf(text: string, columns: number): number[] {
  const cuts = [0];
  if (plainOnly.test(text)) {
    for (let at = columns; at < text.length; at += columns) cuts.push(at);
  } else {
    let used = 0;
    let at = 0;
    for (const c of text) {
      const width = wide.test(c) ? 2 : 1;
      if (used + width > columns) {
        cuts.push(at);
        used = 0;
      }
      used += width;
      at += c.length;
    }
  }
  cuts.push(text.length);
  return cuts;
}
