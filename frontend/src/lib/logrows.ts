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
  /** By what lines are cut into rows; undefined where a row has room for any line. */
  ruler: Ruler | undefined;
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
    const { ruler, open } = this.layout;
    if (ruler) this.addParts(line, ruler);
    else this.rows.push(line);
    if (!open.has(line.seq)) return;
    for (const text of (indented(plainText(line.text)) ?? []).slice(0, mostJson)) {
      const cuts = ruler ? cutsOf(text, ruler) : [0, text.length];
      for (let i = 0; i + 1 < cuts.length; i++)
        this.rows.push(extra("json", line, { text: text.slice(cuts[i], cuts[i + 1]) }));
    }
  }

  private addParts(line: LogLine, ruler: Ruler): void {
    const cut = line.text.length > drawn;
    const text = plainText(cut ? line.text.slice(0, drawn) : line.text);
    const cuts = cutsOf(text, ruler, mayBeJson(line.text) ? ruler.button : 0);
    // The button that shows the rest of a line has a row of its own.
    if (cut) cuts.push(text.length);
    if (cuts.length === 2) this.rows.push(line);
    else
      for (let i = 0; i + 1 < cuts.length; i++)
        this.rows.push(extra("part", line, { from: cuts[i] ?? 0, to: cuts[i + 1] ?? text.length }));
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

/** Whether a line may be a document of JSON. It is read only when somebody asks. */
export const mayBeJson = (text: string) =>
  /^\s*(?:\{.*\}|\[[[{"\d].*\])\s*$/.test(text.length > 20_000 ? "" : text);

/** What decides how much text a row has room for. All widths are in px, as the browser draws them. */
export interface Ruler {
  room: number;
  /** The width of a character. Those of ASCII that are seen are all as wide as "0". */
  widthOf(character: string): number;
  /** The distance of two tab stops. */
  tab: number;
  /** The width of the button before a line that is shown as JSON. */
  button: number;
}

const plainOnly = /^[\x20-\x7e]*$/;
/** A character that is drawn on or with the one before it. */
const joined = /^[\p{M}\u200d]$/u;

/** Where a text is cut so that each part has room in a row: its beginning, each cut, and its end. */
export function cutsOf(text: string, ruler: Ruler, indent = 0): number[] {
  const { room, widthOf, tab } = ruler;
  const cuts = [0];
  const letter = widthOf("0");
  if (plainOnly.test(text)) {
    const columns = Math.max(1, Math.floor(room / letter));
    const first = Math.max(1, Math.floor((room - indent) / letter));
    for (let at = first; at < text.length; at += columns) cuts.push(at);
  } else {
    let used = indent;
    let at = 0;
    for (const c of text) {
      // A tab goes to the next stop that is at least half a letter away.
      const end = c === "\t" ? (Math.floor((used + letter / 2) / tab) + 1) * tab : used + widthOf(c);
      const empty = at === cuts[cuts.length - 1];
      if (end <= room || empty || joined.test(c)) used = end;
      else {
        cuts.push(at);
        used = c === "\t" ? tab : widthOf(c);
      }
      at += c.length;
    }
  }
  cuts.push(text.length);
  return cuts;
}
