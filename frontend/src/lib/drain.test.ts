import { expect, it } from "vitest";
import { drainTime, leftOf, unknownEnd } from "./drain";

const p95 = new Map([
  ["a/short", 10_000],
  ["a/long", 60_000],
]);

it("a run is over when nearly all runs of its job would be", () => {
  expect(leftOf({ job: "a/short", elapsed: 4000 }, p95)).toBe(6000);
  expect(leftOf({ job: "a/short", elapsed: 10_000 }, p95)).toBe(unknownEnd);
  expect(leftOf({ job: "a/new", elapsed: 1 }, p95)).toBe(unknownEnd);
});

it("an instance is empty when the last of them is", () => {
  const runs = [
    { job: "a/short", elapsed: 4000 },
    { job: "a/long", elapsed: 30_000 },
    { job: "a/new", elapsed: 0 },
  ];
  expect(drainTime(runs, p95)).toEqual({ longest: 30_000, unknown: 1 });
  expect(drainTime([], p95)).toEqual({ longest: 0, unknown: 0 });
});
