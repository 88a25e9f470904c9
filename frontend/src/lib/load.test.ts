import { expect, it } from "vitest";
import { quietWindow, zoneMinutes } from "./load";

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
