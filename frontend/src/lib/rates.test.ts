import { expect, it } from "vitest";
import { Rates } from "./rates";

const look = (n: number) => new Map([["a", n]]);

it("tells how much counters grow a second, between two looks", () => {
  const r = new Rates();
  r.note(1000, look(10));
  expect(r.of("a")).toEqual([]);
  r.note(3000, look(30));
  r.note(4000, look(30));
  expect(r.of("a")).toEqual([10, 0]);
});

it("takes the same look, or an older one, once", () => {
  const r = new Rates();
  r.note(1000, look(10));
  r.note(2000, look(20));
  r.note(2000, look(20));
  r.note(1500, look(12));
  expect(r.of("a")).toEqual([10]);
});

it("begins anew with a counter that has fallen, and forgets one that is gone", () => {
  const r = new Rates();
  r.note(1000, look(10));
  r.note(2000, look(20));
  r.note(3000, look(5));
  expect(r.of("a")).toEqual([]);
  r.note(4000, look(6));
  expect(r.of("a")).toEqual([1]);
  r.note(5000, new Map());
  expect(r.of("a")).toEqual([]);
});

it("goes forty looks back", () => {
  const r = new Rates();
  for (let i = 0; i < 100; i++) r.note(1000 * i, look(i * i));
  expect(r.of("a")).toHaveLength(40);
  expect(r.of("a").at(-1)).toBe(197);
});
