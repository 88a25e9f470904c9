import { expect, it } from "vitest";
import { nextSort, readColumns, readSort, sorted, writeColumns, writeSort } from "./columns";

const all = ["schedule", "next", "p95"] as const;

it("columns are read in the order in which a link names them, without those that there are not", () => {
  expect(readColumns("p95,colour,next,p95", all)).toEqual(["p95", "next"]);
  expect(readColumns("colour", all)).toBeUndefined();
  expect(readColumns(undefined, all)).toBeUndefined();
});

it("columns that are usual are not written into a link", () => {
  expect(writeColumns(["next", "p95"], ["next", "p95"])).toBeUndefined();
  expect(writeColumns(["p95", "next"], ["next", "p95"])).toBe("p95,next");
  expect(writeColumns([], ["next"])).toBeUndefined();
});

it("a sort is written as it is read", () => {
  for (const text of ["p95", "-next"]) expect(writeSort(readSort(text, all))).toBe(text);
  expect(readSort("-colour", all)).toBeUndefined();
  expect(readSort(undefined, all)).toBeUndefined();
});

it("a head that is clicked thrice sorts one way, the other way, and not at all", () => {
  const first = nextSort(undefined, "p95", true);
  const second = nextSort(first, "p95", true);
  expect([first, second, nextSort(second, "p95", true)]).toEqual([
    { by: "p95", down: true },
    { by: "p95", down: false },
    undefined,
  ]);
  expect(nextSort(first, "next", false)).toEqual({ by: "next", down: false });
});

it("rows without a value come last, whichever way", () => {
  const rows = [3, undefined, 1, 2];
  const value = (n: number | undefined) => n;
  expect(sorted(rows, value, false)).toEqual([1, 2, 3, undefined]);
  expect(sorted(rows, value, true)).toEqual([3, 2, 1, undefined]);
  expect(sorted(["b", "a", "C"], (s) => s, false)).toEqual(["a", "b", "C"]);
});
