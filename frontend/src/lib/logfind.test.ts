import { expect, it } from "vitest";
import { aLine, lines } from "@/test/factories";
import { LogBuffer } from "./logbuffer";
import { LogFinder, patternOf } from "./logfind";

const find = (b: LogBuffer, needle: string, regex = false) =>
  new LogFinder(b, patternOf(needle, regex) ?? undefined, new Set(["debug"])).sync();

it("finds texts in any case, and expressions, without the colours and the levels that are hidden", () => {
  const b = new LogBuffer();
  b.append([
    aLine(1, { text: "Connection \u001b[31mref\u001b[0mused (db-7)" }),
    aLine(2, { text: "connection refused", level: "debug" }),
    aLine(3, { text: "code=42" }),
  ]);
  expect(find(b, "REFUSED")).toEqual([1]);
  expect(find(b, "(db-7)")).toEqual([1]);
  expect(find(b, "code=\\d+", true)).toEqual([3]);
  expect(find(b, "code=\\d+")).toEqual([]);
  expect(find(b, "")).toEqual([]);
  expect(patternOf("(", true)).toBeNull();
});

it("goes on with what is printed, and forgets what has left", () => {
  const b = new LogBuffer(10);
  const f = new LogFinder(b, /line/i, new Set());
  b.append(lines(1, 8));
  expect(f.sync().length).toBe(8);
  b.append(lines(9, 12));
  expect(f.sync()).toEqual(b.lines.map((l) => l.seq));
  b.replace(lines(50, 51));
  expect(f.sync()).toEqual([50, 51]);
});
