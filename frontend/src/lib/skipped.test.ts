import { expect, it } from "vitest";
import { calendarOf } from "./skipped";

it("names the calendar that keeps a fire from running", () => {
  expect(calendarOf("calendar finance-freeze excludes it")).toBe("finance-freeze");
  expect(calendarOf("calendar weekend, holidays does not include it")).toBe("weekend, holidays");
  expect(calendarOf("the job is paused")).toBeUndefined();
  expect(calendarOf(undefined)).toBeUndefined();
});
