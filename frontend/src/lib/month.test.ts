import { expect, it } from "vitest";
import { addMonths, dateIn, daysLeft, hasDate, isMonth, monthOf, weekdayOf } from "./month";

it("a month has its days, and those of its first week that are not its own", () => {
  expect(monthOf("2026-11")).toMatchObject({ before: 6 }); // it begins on a Sunday
  expect(monthOf("2026-06")).toMatchObject({ before: 0 }); // on a Monday
  expect(monthOf("2028-02").days.at(-1)).toBe("2028-02-29");
});

it("months follow each other over the turn of the year", () => {
  expect(addMonths("2026-12", 1)).toBe("2027-01");
  expect(addMonths("2026-01", -1)).toBe("2025-12");
  expect(["2026-12", "2026-13", "26-1", undefined].map(isMonth)).toEqual([true, false, false, false]);
});

it("an instant is on the date of its zone", () => {
  expect(dateIn("Asia/Shanghai", "2026-11-21T16:30:00Z")).toBe("2026-11-22");
  expect(dateIn("America/New_York", "2026-11-21T03:30:00Z")).toBe("2026-11-20");
  expect(weekdayOf("2026-11-22")).toBe("sun");
});

it("a calendar has a date by name, by the year's day, and by whole days of the week", () => {
  const calendar = {
    dates: ["2026-11-25", "12-31"],
    windows: [
      { days: "sat,sun", from: "00:00", to: "24:00" },
      { days: "mon-fri", from: "12:00", to: "13:00" },
    ],
  };
  const has = (date: string) => hasDate(calendar, date);
  expect(["2026-11-25", "2027-11-25", "2030-12-31", "2026-11-22", "2026-11-23"].map(has)).toEqual([
    true,
    false,
    true,
    true,
    false,
  ]);
  expect(hasDate({ windows: [{ days: "fri-mon", from: "00:00", to: "24:00" }] }, "2026-11-22")).toBe(true);
  expect(hasDate({ windows: [{ days: "fri-mon", from: "00:00", to: "24:00" }] }, "2026-11-24")).toBe(false);
});

it("a month has so many days left, and all of them before it begins", () => {
  expect(daysLeft("2026-11", "2026-11-29")).toBe(2);
  expect(daysLeft("2026-12", "2026-11-29")).toBe(31);
  expect(daysLeft("2026-10", "2026-11-29")).toBe(0);
});
