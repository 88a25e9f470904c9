import { expect, it } from "vitest";
import { aLine } from "@/test/factories";
import { levelBars, newestFirst } from "./levels";

it("every line is in one bar, by its level, and a bar leads to the first of its lines", () => {
  const lines = [
    aLine(60, { level: "error" }),
    aLine(59),
    aLine(30, { level: "warn" }),
    aLine(0, { level: "debug" }),
  ];
  const bars = levelBars(lines, 10);
  expect(bars).toHaveLength(10);
  expect(bars.map((b) => [b.error, b.warn, b.rest])).toEqual([
    [0, 0, 1],
    ...Array(3).fill([0, 0, 0]),
    [0, 1, 0],
    ...Array(4).fill([0, 0, 0]),
    [1, 0, 1],
  ]);
  expect(bars.flatMap((b) => b.first ?? [])).toEqual([3, 2, 0]);
});

it("lines of one instant are in one bar, and no lines are in none", () => {
  const bars = levelBars([aLine(5), aLine(5), aLine(5)], 4);
  expect(bars.map((b) => b.rest)).toEqual([3, 0, 0, 0]);
  expect(bars.every((b) => b.to > b.from)).toBe(true);
  expect(levelBars([], 4)).toEqual([]);
});

it("lines of several runs are put in the order of time, the newest first", () => {
  const at = "2026-01-05T12:00:09.000Z";
  const lines = [aLine(3), aLine(9), aLine(2, { run_id: "b", at }), aLine(1, { run_id: "b", at })];
  expect(newestFirst(lines).map((l) => l.seq)).toEqual([9, 2, 1, 3]);
});
