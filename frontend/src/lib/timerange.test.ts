import { expect, it } from "vitest";
import {
  addDays,
  boundRange,
  chartOf,
  comparedTime,
  firstDayOf,
  type RangeReader,
  readRange,
  startOfDay,
  windowOf,
} from "./timerange";

const hour = 3600e3;
const iso = (ms: number) => new Date(ms).toISOString().replace(":00.000Z", "Z");
const at = (text: string) => Date.parse(text);
const reader = (change: Partial<RangeReader> = {}): RangeReader => ({
  now: at("2026-11-30T10:20:00Z"), // a Monday
  zone: "UTC",
  firstDay: 1,
  usual: "24h",
  offers: ["24h", "today", "yesterday", "week", "last-week", "month", "last-month"],
  ...change,
});
const span = (range: string, change?: Partial<RangeReader>) => {
  const { from, to } = readRange({ range }, reader(change)).range;
  return `${iso(from)} ${iso(to)}`;
};

it("knows the days that each name stands for", () => {
  expect(span("24h")).toBe("2026-11-29T10:20Z 2026-11-30T10:20Z");
  expect(span("today")).toBe("2026-11-30T00:00Z 2026-12-01T00:00Z");
  expect(span("yesterday")).toBe("2026-11-29T00:00Z 2026-11-30T00:00Z");
  expect(span("week")).toBe("2026-11-30T00:00Z 2026-12-07T00:00Z");
  expect(span("last-week")).toBe("2026-11-23T00:00Z 2026-11-30T00:00Z");
  expect(span("month")).toBe("2026-11-01T00:00Z 2026-12-01T00:00Z");
  expect(span("last-month")).toBe("2026-10-01T00:00Z 2026-11-01T00:00Z");
});

it("begins weeks on the first day of the reader's locale", () => {
  expect(span("week", { firstDay: 7 })).toBe("2026-11-29T00:00Z 2026-12-06T00:00Z");
  const sunday = { now: at("2026-11-29T10:00:00Z") };
  expect(span("week", { ...sunday, firstDay: 1 })).toBe("2026-11-23T00:00Z 2026-11-30T00:00Z");
  expect(span("week", { ...sunday, firstDay: 7 })).toBe("2026-11-29T00:00Z 2026-12-06T00:00Z");
  expect(span("last-week", { ...sunday, firstDay: 6 })).toBe("2026-11-21T00:00Z 2026-11-28T00:00Z");
  expect(firstDayOf("en", ["de-DE", "en-US"])).toBe(7);
  expect(firstDayOf("en", ["en-GB"])).toBe(1);
  expect(firstDayOf("zh", [])).toBe(1);
});

it("has months of their own lengths, over the ends of years", () => {
  const march = { now: at("2028-03-31T23:59:59Z") };
  expect(span("last-month", march)).toBe("2028-02-01T00:00Z 2028-03-01T00:00Z");
  expect(span("yesterday", march)).toBe("2028-03-30T00:00Z 2028-03-31T00:00Z");
  const newYear = { now: at("2027-01-01T00:00:00Z") };
  expect(span("last-month", newYear)).toBe("2026-12-01T00:00Z 2027-01-01T00:00Z");
  expect(span("yesterday", newYear)).toBe("2026-12-31T00:00Z 2027-01-01T00:00Z");
});

it("has the days of the zone, which clock changes make shorter or longer", () => {
  expect(span("today", { zone: "Asia/Shanghai", now: at("2026-11-30T16:30:00Z") })).toBe(
    "2026-11-30T16:00Z 2026-12-01T16:00Z",
  );
  const hours = (range: string, now: string, zone: string) => {
    const { from, to } = readRange({ range, zone }, reader({ now: at(now) })).range;
    return (to - from) / hour;
  };
  expect(hours("today", "2026-03-29T12:00:00Z", "Europe/Berlin")).toBe(23);
  expect(hours("yesterday", "2026-10-26T12:00:00Z", "Europe/Berlin")).toBe(25);
  expect(hours("last-week", "2026-03-31T12:00:00Z", "Europe/Berlin")).toBe(7 * 24 - 1);
  expect(hours("last-month", "2026-11-02T12:00:00Z", "Europe/Berlin")).toBe(31 * 24 + 1);
});

it("begins a day with its first instant, also where midnight is skipped or repeated", () => {
  expect(iso(startOfDay("2026-09-06", "America/Santiago"))).toBe("2026-09-06T04:00Z"); // it begins at 01:00
  expect(iso(startOfDay("2026-11-01", "America/Havana"))).toBe("2026-11-01T04:00Z"); // 00:00 comes twice
  expect(iso(startOfDay("2026-04-05", "America/Santiago"))).toBe("2026-04-05T04:00Z"); // 23:00 came twice before
  expect(iso(startOfDay("2011-12-30", "Pacific/Apia"))).toBe("2011-12-30T10:00Z"); // there was no such day
  expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
  expect(addDays("2026-03-01", -1)).toBe("2026-02-28");
});

it("reads instants", () => {
  const read = (from: string, to: string) => readRange({ from, to }, reader());
  expect(read("2026-11-12T02:00:00Z", "2026-11-12T04:00:00Z")).toEqual({
    range: {
      name: undefined,
      from: at("2026-11-12T02:00:00Z"),
      to: at("2026-11-12T04:00:00Z"),
      zone: "UTC",
      isOpen: false,
    },
    problem: undefined,
  });
  expect(read("2026-11-12T02:00:00Z", "2027-01-01T00:00:00Z").range.isOpen).toBe(true);
});

it("says what is wrong with an address, and reads the usual range instead", () => {
  const wrong = (search: Parameters<typeof readRange>[0], want: unknown) => {
    const { range, problem } = readRange(search, reader());
    expect(problem).toEqual(want);
    return range;
  };
  expect(wrong({ range: "fortnight" }, { code: "range", value: "fortnight" }).name).toBe("24h");
  expect(wrong({ range: "1h" }, { code: "range", value: "1h" }).name).toBe("24h"); // not offered by this page
  expect(
    wrong({ from: "last tuesday", to: "2026-11-12T04:00:00Z" }, { code: "from", value: "last tuesday" }).name,
  ).toBe("24h");
  expect(wrong({ from: "2026-11-12T04:00:00Z", to: "x" }, { code: "to", value: "x" }).name).toBe("24h");
  wrong({ from: "2026-11-12T04:00:00Z", to: "2026-11-12T04:00:00Z" }, { code: "order" });
  wrong({ from: "2026-11-12T04:00:00Z" }, { code: "half" });
  wrong({ to: "2026-11-12T04:00:00Z" }, { code: "half" });
  expect(wrong({ range: "today", zone: "Mars/Base" }, { code: "zone", value: "Mars/Base" })).toMatchObject({
    name: "today",
    zone: "UTC",
  });
});

it("prefers the instants of a chart to the name of the range they were in", () => {
  const search = { range: "today", from: "2026-11-30T02:00:00Z", to: "2026-11-30T04:00:00Z" };
  expect(readRange(search, reader()).range.name).toBeUndefined();
});

it("cuts a range to what is kept, and to what a page can show", () => {
  const { range } = readRange({ from: "2001-01-01T00:00:00Z", to: "2026-11-30T00:00:00Z" }, reader());
  const day = 24 * hour;
  const kept = boundRange(range, reader().now, { kept: 90 * day });
  expect(kept.problem).toEqual({ code: "kept", since: at("2026-09-01T10:00:00Z") });
  expect(kept.range.from).toBe(at("2026-09-01T10:00:00Z"));
  const short = boundRange(range, reader().now, { kept: 90 * day, longest: 31 * day });
  expect(short.problem).toEqual({ code: "longest", since: at("2026-10-30T00:00:00Z"), days: 31 });
  const old = readRange({ from: "2001-01-01T00:00:00Z", to: "2002-01-01T00:00:00Z" }, reader()).range;
  expect(boundRange(old, reader().now, { kept: 90 * day })).toEqual({
    range: old,
    problem: { code: "gone", since: at("2026-09-01T10:00:00Z") },
  });
  const october = readRange({ range: "last-month", zone: "Europe/Berlin" }, reader()).range;
  expect(boundRange(october, reader().now, { kept: day, longest: 31 * day })).toMatchObject({
    range: { name: "last-month", from: october.from + hour },
    problem: { code: "longest", days: 31 },
  });
  const fits = readRange({ range: "last-month" }, reader()).range;
  expect(boundRange(fits, reader().now, { kept: 90 * day, longest: 92 * day })).toEqual({
    range: fits,
    problem: undefined,
  });
});

it("asks for what moves without an end, and for what is over with one", () => {
  const asked = (search: Parameters<typeof readRange>[0], offers?: RangeReader["offers"]) =>
    windowOf(readRange(search, reader(offers && { offers })).range);
  expect(asked({ range: "24h" })).toEqual({ from: "2026-11-29T10:20:00.000Z" });
  expect(asked({ range: "today" })).toEqual({ from: "2026-11-30T00:00:00.000Z" });
  expect(asked({ range: "yesterday" })).toEqual({
    from: "2026-11-29T00:00:00.000Z",
    to: "2026-11-30T00:00:00.000Z",
  });
  expect(asked({ range: "all" }, ["all"])).toEqual({});
});

it("charts a range that ends now by parts that do not move with each second, and any other as it is", () => {
  const { now } = reader();
  const chart = (range: string, later = 0) => {
    const { from, to, part } = chartOf(readRange({ range }, reader({ now: now + later })).range, 96);
    return `${iso(from)} ${iso(to)} ${part / 60_000}`;
  };
  expect(chart("24h")).toBe("2026-11-29T10:30Z 2026-11-30T10:30Z 15");
  expect(chart("24h", 60_000)).toBe(chart("24h"));
  expect(chart("today")).toBe("2026-11-30T00:00Z 2026-12-01T00:00Z 15");
});

it("compares a day that is not over with as much of the day before", () => {
  const before = (search: Parameters<typeof readRange>[0]) => {
    const { from, to } = comparedTime(readRange(search, reader()).range, reader());
    return `${iso(from)} ${iso(to)}`;
  };
  expect(before({ range: "today" })).toBe("2026-11-29T00:00Z 2026-11-29T10:20Z");
  expect(before({ range: "month" })).toBe("2026-10-01T00:00Z 2026-10-30T10:20Z");
  expect(before({ range: "yesterday" })).toBe("2026-11-28T00:00Z 2026-11-29T00:00Z");
  expect(before({ from: "2026-11-12T02:00:00Z", to: "2026-11-12T04:00:00Z" })).toBe(
    "2026-11-12T00:00Z 2026-11-12T02:00Z",
  );
});
