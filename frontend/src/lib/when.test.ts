import { expect, it } from "vitest";
import { whenOf } from "./when";

const now = Date.parse("2026-12-01T02:30:00Z");

it.each([
  ["2026-11-30 09:00", "2026-11-30T09:00"],
  ["2026-11-30T9:05", "2026-11-30T09:05"],
  ["2026-11-30 09:00:30", "2026-11-30T09:00"],
  ["9:00", "2026-12-01T09:00"],
  ["today 23:59", "2026-12-01T23:59"],
  [" Yesterday 09:00 ", "2026-11-30T09:00"],
  ["tomorrow 09:00", "2026-12-02T09:00"],
  ["昨天 09：00", "2026-11-30T09:00"],
  ["昨天9:00", "2026-11-30T09:00"],
])("%s is a time", (text, wall) => {
  expect(whenOf(text, now, "UTC")).toBe(wall);
});

it.each(["", "yesterday", "24:00", "12:60", "2026-02-30 09:00", "2026-13-01 09:00", "noon", "9"])(
  "%s is none",
  (text) => {
    expect(whenOf(text, now, "UTC")).toBeUndefined();
  },
);

it("today is that of the zone", () => {
  expect(whenOf("yesterday 09:00", now, "America/New_York")).toBe("2026-11-29T09:00");
});
