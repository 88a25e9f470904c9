import { expect, it } from "vitest";
import { aLine, at, lines } from "@/test/factories";
import { LogBuffer } from "./logbuffer";
import { LogStrip } from "./logstrip";

const total = (s: LogStrip) => s.parts.reduce((n, p) => n + p.lines, 0);

it("counts lines over time, however long they take", () => {
  const b = new LogBuffer();
  const s = new LogStrip(b);
  b.append([aLine(1, { at: at(0) }), aLine(2, { at: at(0.05), level: "error" })]);
  s.sync();
  expect(total(s)).toBe(2);
  expect(s.parts.at(-1)).toEqual({ lines: 1, warn: 0, error: 1 });
  b.append([aLine(3, { at: at(3600), level: "warn" }), aLine(4, { at: at(-5) })]);
  s.sync();
  expect(total(s)).toBe(4);
  expect(s.parts.length).toBeLessThanOrEqual(240);
  expect(s.parts[0]).toEqual({ lines: 3, warn: 0, error: 1 });
  expect(s.parts.at(-1)?.warn).toBe(1);
  expect(s.share(Date.parse(at(0)))).toBe(0);
  expect(s.share(Date.parse(at(3600)))).toBeGreaterThan(0.99);
});

it("forgets what has left the buffer", () => {
  const b = new LogBuffer(100);
  const s = new LogStrip(b);
  for (let n = 1; n < 1000; n += 10) {
    b.append(lines(n, n + 9));
    s.sync();
  }
  expect(s.from).toBeLessThanOrEqual(Date.parse(at(b.first ?? 0)));
  expect(s.to - s.from).toBeLessThan(200_000);
  b.replace(lines(5, 6));
  s.sync();
  expect(total(s)).toBe(2);
});
