import { expect, it } from "vitest";
import { calendarOf } from "./skipped";

it("the calendar that skips a fire is named in its reason", () => {
  const excludes = {
    text: "calendar finance excludes it",
    code: "calendar_excludes",
    params: { calendar: "finance" },
  };
  expect(calendarOf(excludes)).toBe("finance");
  expect(calendarOf({ text: "the job is paused", code: "job_paused" })).toBeUndefined();
  expect(calendarOf(undefined)).toBeUndefined();
});
