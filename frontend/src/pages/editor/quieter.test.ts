import { expect, it } from "vitest";
import { quieterMinute } from "./quieter";

const hour = (at: Record<number, number>, rest = 0) => Array.from({ length: 60 }, (_, i) => at[i] ?? rest);

it("offers the nearest round minute of those with the fewest fires", () => {
  expect(quieterMinute(hour({ 0: 57, 5: 2, 10: 0, 3: 0 }, 1), 0, 0)).toEqual({
    minute: 10,
    here: 57,
    there: 0,
  });
  expect(quieterMinute(hour({ 30: 12 }), 30, 0)).toEqual({ minute: 25, here: 12, there: 0 });
});

it("offers nothing where few fire, and nothing that is hardly better", () => {
  expect(quieterMinute(hour({ 0: 2 }), 0, 0)).toBeUndefined();
  expect(quieterMinute(hour({ 0: 3 }), 0, 1)).toBeUndefined(); // one of them is its own
  expect(quieterMinute(hour({ 0: 10 }, 6), 0, 0)).toBeUndefined();
});
