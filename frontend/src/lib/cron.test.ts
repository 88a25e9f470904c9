import { describe, expect, it } from "vitest";
import { cronToSentence, formatCells, parseCells, type Sentence, sentenceToCron } from "./cron";

describe("cells", () => {
  it("are five in Unix cron, and six or seven in Quartz", () => {
    expect(parseCells("0 3 * * 1-5")).toEqual({
      minute: "0",
      hour: "3",
      day: "*",
      month: "*",
      weekday: "1-5",
    });
    expect(parseCells(" 0 15 10 ?  * 6L 2026-2027 ")).toEqual({
      second: "0",
      minute: "15",
      hour: "10",
      day: "?",
      month: "*",
      weekday: "6L",
      year: "2026-2027",
    });
  });

  it("are none of a macro, an interval or too few fields", () => {
    for (const text of ["@daily", "@every 90s", "* * * *", ""]) expect(parseCells(text)).toBeUndefined();
  });

  it("give the expression back", () => {
    for (const text of ["*/5 * * * *", "0 0 12 ? * MON#1", "0 15 10 ? * 6L 2026"]) {
      expect(formatCells(parseCells(text) ?? {})).toBe(text);
    }
  });

  it("that are empty become what says nothing", () => {
    expect(formatCells({ minute: "", hour: "3", day: "", month: "*", weekday: "" })).toBe("* 3 * * *");
    expect(formatCells({ second: "", minute: "0", hour: "3", day: "1", month: "*", weekday: "?" })).toBe(
      "0 0 3 1 * ?",
    );
  });
});

describe("a sentence", () => {
  const both: [string, Sentence][] = [
    ["* * * * *", { every: "minute", n: 1 }],
    ["*/15 * * * *", { every: "minute", n: 15 }],
    ["30 * * * *", { every: "hour", n: 1, minute: 30 }],
    ["0 */6 * * *", { every: "hour", n: 6, minute: 0 }],
    ["30 9,17 * * *", { every: "day", times: ["09:30", "17:30"] }],
    [
      "0 2 * * MON-SAT",
      { every: "week", days: ["MON", "TUE", "WED", "THU", "FRI", "SAT"], times: ["02:00"] },
    ],
    ["0 2 * * MON,WED", { every: "week", days: ["MON", "WED"], times: ["02:00"] }],
    ["0 2 1,15 * *", { every: "month", on: { kind: "days", days: [1, 15] }, times: ["02:00"] }],
    ["0 0 2 L * ?", { every: "month", on: { kind: "last" }, times: ["02:00"] }],
    ["0 0 2 ? * FRI#3", { every: "month", on: { kind: "nth", day: "FRI", nth: 3 }, times: ["02:00"] }],
    ["0 2 24 12 *", { every: "year", month: 12, day: 24, times: ["02:00"] }],
  ];
  it.each(both)("says %s, and becomes it again", (text, sentence) => {
    expect(cronToSentence(text)).toEqual(sentence);
    expect(sentenceToCron(sentence)).toBe(text);
  });

  it("counts weekdays from Sunday = 0 or 7 in Unix cron, and from Sunday = 1 in Quartz", () => {
    const days = (text: string) => {
      const s = cronToSentence(text);
      return s?.every === "week" ? s.days.join() : undefined;
    };
    expect(days("0 2 * * 1-5")).toBe("MON,TUE,WED,THU,FRI");
    expect(days("0 2 * * 0,7")).toBe("SUN");
    expect(days("0 0 2 ? * 2-6")).toBe("MON,TUE,WED,THU,FRI");
    expect(days("0 2 * * FRI-MON")).toBe("MON,FRI,SAT,SUN");
  });

  it("is not claimed for what it cannot say", () => {
    const hard = [
      "*/7 * * * *",
      "5/10 * * * *",
      "0 2 1 * MON",
      "0 2 * 6 *",
      "30 0 2 * * ?",
      "H 2 * * *",
      "0 0 2 15W * ?",
      "0 25 * * *",
      "0 9-17 * * *",
    ];
    for (const text of hard) expect(cronToSentence(text), text).toBeUndefined();
  });

  it("reads macros", () => {
    expect(cronToSentence("@daily")).toEqual({ every: "day", times: ["00:00"] });
    expect(cronToSentence("@every 90s")).toBeUndefined();
  });
});
