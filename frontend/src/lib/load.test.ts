import { expect, it } from "vitest";
import { minutesOf, quietWindow, shadesOf, zoneMinutes } from "./load";

const days = (quarter: (q: number, day: number) => number) =>
  Array.from({ length: 7 * 96 }, (_, i) => quarter(i % 96, Math.floor(i / 96)));

it("finds the longest part of the day that is quiet every day", () => {
  const parts = days((q, day) => (q >= 14 && q < 20 ? 1 : q === 40 ? 0 : q === 60 && day > 0 ? 1 : 9));
  expect(quietWindow(parts)).toEqual({ from: 14, to: 20, most: 1 });
  expect(quietWindow(parts.map((n, i) => (i < 50 ? undefined : n)))).toEqual({ from: 14, to: 20, most: 1 });
});

it("finds none where all times of day are alike", () => {
  expect(quietWindow(days(() => 4))).toBeUndefined();
  expect(quietWindow(days((q) => 100 + (q % 4)))).toBeUndefined();
});

it("shows minutes of the hour by the clock of a zone", () => {
  const minutes = Array.from({ length: 60 }, (_, m) => (m === 0 ? 7 : 0));
  expect(zoneMinutes(minutes, 480)).toEqual(minutes);
  expect(zoneMinutes(minutes, 330).indexOf(7)).toBe(30);
  expect(zoneMinutes(minutes, -210).indexOf(7)).toBe(30);
});

it("shades a quarter-hour by its rank, so that neither a floor nor a peak hides the others", () => {
  const floor = days((q) => 180 + (q % 4 === 0 ? 7 : 0));
  const busy = shadesOf(floor);
  expect([busy(180), busy(187)]).toEqual([2, 3]);
  const peak = days((q, day) => (q === 8 && day === 2 ? 5000 : q === 40 ? 30 : q % 4 === 0 ? 4 : 0));
  const shade = shadesOf(peak);
  expect([shade(0), shade(4), shade(30), shade(5000)]).toEqual([0, 2, 4, 5]);
  expect(shadesOf(days((q) => 1000 + (q % 3)))(1002)).toBe(2);
});

it("says of less than a tenth of a minute that it is not nothing", () => {
  const said = (ms: number) => minutesOf(ms, String);
  expect([0, 40, 2_999, 3_000, 90_000].map(said)).toEqual(["0", "<0.1", "<0.1", "0.1", "1.5"]);
});
