import { describe, expect, it } from "vitest";
import { aLine, lines } from "@/test/factories";
import { LogBuffer, visibleRows } from "./logbuffer";

const seqs = (b: LogBuffer) => b.lines.map((l) => l.seq);

describe("a log buffer", () => {
  it("takes each line once, however pages and the tail overlap", () => {
    const b = new LogBuffer();
    b.append(lines(3, 5));
    b.append(lines(4, 7));
    b.prepend(lines(1, 4));
    b.append(lines(5, 6));
    expect(seqs(b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(b.counts).toEqual({ info: 7 });
  });

  it("lets the oldest lines go when it is full, and counts what it holds", () => {
    const b = new LogBuffer(100);
    b.append([aLine(1, { level: "error" }), ...lines(2, 100)]);
    b.append(lines(101, 110));
    expect(b.last).toBe(110);
    expect(b.lines.length).toBeLessThanOrEqual(100);
    expect(b.first).toBeGreaterThan(10);
    expect(b.counts.error).toBe(0);
    expect(b.counts.info).toBe(b.lines.length);
  });

  it("lets the last lines go for earlier ones, and says so", () => {
    const b = new LogBuffer(10);
    b.append(lines(11, 16));
    expect(b.prepend(lines(7, 10))).toBe(false);
    expect(b.prepend(lines(1, 6))).toBe(true);
    expect(seqs(b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(b.counts).toEqual({ info: 10 });
  });

  it("holds another part of the log in the place of what it held", () => {
    const b = new LogBuffer();
    b.append([aLine(1, { level: "error" }), ...lines(2, 9)]);
    b.replace(lines(50, 52));
    expect(seqs(b)).toEqual([50, 51, 52]);
    expect(b.counts).toEqual({ info: 3 });
  });

  it("finds a line by its number, or where it would be", () => {
    const b = new LogBuffer();
    b.append([...lines(1, 3), ...lines(1_000_000_001, 1_000_000_003)]); // another delivery
    expect(b.indexOf(2)).toBe(1);
    expect(b.indexOf(500)).toBe(3);
    expect(b.indexOf(1_000_000_002)).toBe(4);
    expect(b.indexOf(2_000_000_000)).toBe(6);
  });

  it("holds two hundred thousand lines that come two hundred at a time", () => {
    const b = new LogBuffer();
    const batches = Array.from({ length: 1100 }, (_, i) => lines(i * 200 + 1, i * 200 + 200));
    for (const batch of batches) b.append(batch);
    expect(b.last).toBe(220_000);
    expect(b.lines.length).toBeLessThanOrEqual(200_000);
  });
});

describe("the rows to draw", () => {
  it("are those on the screen and some around them", () => {
    expect(visibleRows(0, 600, 20, 200_000)).toEqual([0, 42]);
    expect(visibleRows(100_000, 600, 20, 200_000)).toEqual([4988, 5042]);
    expect(visibleRows(1e9, 600, 20, 100)).toEqual([100, 100]);
    expect(visibleRows(0, 600, 20, 5)).toEqual([0, 5]);
  });
});
