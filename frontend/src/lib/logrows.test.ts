import { describe, expect, it } from "vitest";
import { aLine, lines } from "@/test/factories";
import { LogBuffer } from "./logbuffer";
import { cutsOf, isExtra, isFrame, type Layout, LogRows } from "./logrows";

const plain: Layout = { hidden: new Set(), columns: 0, open: new Set() };
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
    expect(drawn(of(b, { hidden: new Set(["debug"]), columns: 10 }))).toEqual([
      "part 0-10",
      "part 10-20",
      "part 20-25",
      "short",
    ]);
    expect(of(b, { columns: 10 }).sync().length).toBe(5);
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

it("letters that are wide take two columns", () => {
  expect(cutsOf("日本語日本", 4)).toEqual([0, 2, 4, 5]);
  expect(cutsOf("a🎛b🎛", 3)).toEqual([0, 3, 6]);
  expect(cutsOf("", 3)).toEqual([0, 0]);
});
