import { expect, it } from "vitest";
import { datesOf, joinDates } from "./calendar";

it("reads dates however they are set apart", () => {
  expect(datesOf("12-25\n2026-04-03, 2026-04-06  05-01\n")).toEqual([
    "12-25",
    "2026-04-03",
    "2026-04-06",
    "05-01",
  ]);
  expect(datesOf(" \n")).toEqual([]);
});

it("joins dates, each once, those of every year first", () => {
  expect(joinDates(["2027-01-06", "12-25"], ["2026-04-03", "05-01", "12-25"])).toEqual([
    "05-01",
    "12-25",
    "2026-04-03",
    "2027-01-06",
  ]);
});
