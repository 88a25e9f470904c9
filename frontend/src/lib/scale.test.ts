import { expect, it } from "vitest";
import { makeFormat } from "./format";
import { type AxisLabel, apart, countStep, ticks, timeLabels, valueStep } from "./scale";

const f = makeFormat("en", "UTC");
const noon = Date.parse("2026-11-23T12:00:00Z");
const texts = (ms: number) =>
  timeLabels({ from: noon, to: noon + ms, left: 0, width: 1000 }, 0, f).labels.map((l) => l.text);

it("no two labels side by side on a time axis say the same", () => {
  for (const ms of [500, 4_000, 10_000, 45_000, 90_000, 600_000, 3600_000, 86_400_000, 30 * 86_400_000]) {
    const said = texts(ms);
    expect(said.length, `${ms} ms`).toBeGreaterThan(0);
    expect(
      said.filter((text, i) => text === said[i - 1]),
      `${ms} ms: ${said}`,
    ).toEqual([]);
  }
});

it("seconds are written where they are needed, and only there", () => {
  expect(texts(10_000).slice(0, 2)).toEqual(["12:00:00", "12:00:01"]);
  expect(texts(3600_000)[1]).toMatch(/^12:\d\d$/);
});

it("labels of an axis give way to those that come before them", () => {
  const label = (x: number, text: string, anchor: AxisLabel["anchor"]) => ({ at: x, x, text, anchor });
  const now = label(240, "now", "middle");
  const end = (x: number) => label(x, "14:32", "end");
  const shown = (x: number, ...others: AxisLabel[]) => apart([end(x), ...others], [now]).map((l) => l.x);
  // "14:32" is 33 px wide, half of "now" 10, and 8 are between them.
  expect(shown(240 + 10 + 8 + 33 + 1)).toEqual([292]);
  expect(shown(240 + 10 + 8 + 33 - 1)).toEqual([]);
  expect(
    shown(400, label(0, "09:00", "start"), label(30, "09:05", "start"), label(60, "09:10", "start")),
  ).toEqual([400, 0, 60]);
});

it("an axis has round values, few of them, and reaches the top", () => {
  for (const top of [0.003, 0.01, 0.7, 1, 3, 9.5, 120, 5001]) {
    const lines = ticks(top, valueStep(top, 3));
    expect(lines.length, `${top}`).toBeLessThanOrEqual(5);
    expect(lines.at(-1), `${top}`).toBeGreaterThanOrEqual(top);
  }
  expect(ticks(0.7, valueStep(0.7, 3))).toEqual([0, 0.5, 1]);
  expect([1, 3, 9, 50].map((top) => countStep(top, 4))).toEqual([1, 1, 5, 20]);
});
