import { expect, it } from "vitest";
import { isNarrowable } from "./ranges";

const parts = (n: number, ms: number) =>
  Array.from({ length: n }, (_, i) => ({ from: i * ms, to: (i + 1) * ms }));

it("narrows a time to some of its parts, down to a second", () => {
  expect(isNarrowable(parts(96, 60_000))).toBe(true);
  expect(isNarrowable(parts(2, 1000))).toBe(true);
  expect(isNarrowable(parts(96, 999))).toBe(false);
  expect(isNarrowable(parts(1, 60_000))).toBe(false); // it is there already
  expect(isNarrowable([])).toBe(false);
});
