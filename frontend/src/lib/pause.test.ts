import { expect, it } from "vitest";
import { endOf, isHeldAt, noEnd, pauseOf } from "./pause";

const noon = Date.parse("2026-03-28T12:00:00Z");

it("a pause that has an end is over at that instant", () => {
  const until = "2026-03-28T12:00:01.000Z";
  expect(pauseOf({ paused: true }, noon)).toEqual({});
  expect(pauseOf({ paused_until: until }, noon)).toEqual({ until });
  expect(pauseOf({ paused_until: until }, noon + 1000)).toBeUndefined();
  expect(pauseOf({}, noon)).toBeUndefined();
});

it("the end of a pause is what the wall clock of the zone says, also when clocks change", () => {
  const iso = (choice: "1h" | "tomorrow" | "at", wall = "") => {
    const at = endOf({ choice, wall }, noon, "Europe/Berlin");
    return at === undefined || Number.isNaN(at) ? at : new Date(at).toISOString();
  };
  expect(endOf(noEnd, noon, "Europe/Berlin")).toBeUndefined();
  expect(iso("1h")).toBe("2026-03-28T13:00:00.000Z");
  expect(iso("tomorrow")).toBe("2026-03-29T07:00:00.000Z");
  expect(iso("at", "2026-03-28T18:30")).toBe("2026-03-28T17:30:00.000Z");
  expect(iso("at", "2026-03-28T01:00")).toBeNaN();
  expect(iso("at")).toBeNaN();
});

it("a fire would be skipped while everything is paused, but not at the end of the pause", () => {
  const until = "2026-03-28T12:00:01.000Z";
  expect(isHeldAt(undefined, noon)).toBe(false);
  expect(isHeldAt({ paused: false, until }, noon)).toBe(false);
  expect(isHeldAt({ paused: true }, noon + 1e12)).toBe(true);
  expect(isHeldAt({ paused: true, until }, "2026-03-28T12:00:00.999Z")).toBe(true);
  expect(isHeldAt({ paused: true, until }, until)).toBe(false);
});
