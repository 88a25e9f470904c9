import { describe, expect, it } from "vitest";
import { aLine, lines } from "@/test/factories";
import { LogBuffer } from "./logbuffer";
import { cutsOf, isExtra, isFrame, type Layout, LogRows, type Ruler } from "./logrows";

const plain: Layout = { hidden: new Set(), ruler: undefined, open: new Set() };
/** Of a row with room for so many letters, where others are twice as wide as those of ASCII. */
const room = (letters: number): Ruler => ({
  room: letters * 7,
  widthOf: (c) => (c <= "~" ? 7 : 14),
  tab: 8 * 7,
  button: 13,
});
const said = (...texts: string[]) => texts.map((text, i) => aLine(i + 1, { text }));
const drawn = (r: LogRows) =>
  r
    .sync()
    .map((row) =>
      isExtra(row) ? `${row.kind} ${row.folded || row.text || `${row.from}-${row.to}`}` : row.text,
    );

function of(buffer: LogBuffer, layout: Partial<Layout> = {}): LogRows {
  return new LogRows(buffer, { ...plain, ...layout });
}

describe("the rows of a log", () => {
  it("follow what is printed, what leaves, and what is read before it", () => {
    const b = new LogBuffer(10);
    const r = of(b);
    b.append(lines(11, 14));
    expect(drawn(r)).toEqual(["line 11", "line 12", "line 13", "line 14"]);
    b.append(lines(15, 22));
    expect(r.sync().map((row) => row.seq)).toEqual(b.lines.map((l) => l.seq));
    b.prepend(lines(1, 12));
    expect(r.sync().map((row) => row.seq)).toEqual(b.lines.map((l) => l.seq));
    expect(r.rowOf(b.first ?? 0)).toBe(0);
  });

  it("leave out levels, and cut what has no room", () => {
    const b = new LogBuffer();
    b.append([aLine(1, { level: "debug" }), aLine(2, { text: "x".repeat(25) }), aLine(3, { text: "short" })]);
    expect(drawn(of(b, { hidden: new Set(["debug"]), ruler: room(10) }))).toEqual([
      "part 0-10",
      "part 10-20",
      "part 20-25",
      "short",
    ]);
    expect(of(b, { ruler: room(10) }).sync().length).toBe(5);
  });

  it("fold a stack trace after its third frame, however it comes, and open it again", () => {
    const trace = [1, 2, 3, 4, 5, 6].map((n) => `\tat com.acme.Ledger.m${n}(Ledger.java:${n})`);
    const all = said("IllegalState: x", ...trace, "\t... 4 more", "Caused by: y", ...trace, "done");
    const b = new LogBuffer();
    const r = of(b);
    for (const line of all) {
      b.append([line]);
      r.sync();
    }
    const first = trace.slice(0, 3);
    expect(drawn(r)).toEqual([
      "IllegalState: x",
      ...first,
      "fold 4",
      "Caused by: y",
      ...first,
      "fold 3",
      "done",
    ]);
    expect(drawn(of(b))).toEqual(drawn(r));
    // The seventh line is behind the fold that begins with the fifth.
    expect(r.rowOf(7)).toBe(4);
    expect(r.rowOf(9)).toBe(5);
    expect(drawn(of(b, { open: new Set([5]) })).slice(0, 9)).toEqual(all.slice(0, 9).map((l) => l.text));
  });

  it("show the JSON of a line below it", () => {
    const b = new LogBuffer();
    b.append(said('{"a":1}', "next"));
    expect(drawn(of(b, { open: new Set([1]) }))).toEqual([
      '{"a":1}',
      "json {",
      'json   "a": 1',
      "json }",
      "next",
    ]);
  });
});

it("frames are those of the languages that people write jobs in", () => {
  for (const text of [
    "    at Object.<anonymous> (/app/x.js:1:2)",
    '  File "x.py", line 3, in main',
    "\t/src/main.go:12 +0x1d",
    "#3 /app/x.php(12): f()",
    "\tfrom x.rb:3:in `f'",
    "   4: core::panicking::panic",
  ])
    expect(isFrame(text), text).toBe(true);
  for (const text of ["at noon", "  batch 3 of 4", "# heading", "12: x", ""])
    expect(isFrame(text), text).toBe(false);
});

it("a row has as many characters as there is room for by their widths", () => {
  expect(cutsOf("日本語日本", room(4))).toEqual([0, 2, 4, 5]);
  expect(cutsOf("a🎛b🎛", room(3))).toEqual([0, 3, 6]);
  expect(cutsOf("", room(3))).toEqual([0, 0]);
  expect(cutsOf("abcdef", room(4), 14)).toEqual([0, 2, 6]);
  // None is wider than a row, but a character that has no room in any.
  expect(cutsOf("日本", room(1))).toEqual([0, 1, 2]);
  // A tab goes to the next stop, and a mark stays on its letter.
  expect(cutsOf("a\tbc", room(9))).toEqual([0, 3, 4]);
  expect(cutsOf("\t\t\t", room(16))).toEqual([0, 2, 3]);
  expect(cutsOf("日a\u0301日", room(3))).toEqual([0, 3, 4]);
});

it("wrapped, a document is cut like a line, and the button for the rest of a line has a row", () => {
  const b = new LogBuffer();
  b.append(said(`{"a":"${"x".repeat(12)}"}`, "y".repeat(2001)));
  const rows = drawn(of(b, { ruler: room(10), open: new Set([1]) }));
  expect(rows.slice(0, 7)).toEqual([
    "part 0-8",
    "part 8-18",
    "part 18-20",
    "json {",
    'json   "a": "xx',
    "json xxxxxxxxxx",
    'json "',
  ]);
  expect(rows.slice(-2)).toEqual(["part 1990-2000", "part 2000-2000"]);
});
