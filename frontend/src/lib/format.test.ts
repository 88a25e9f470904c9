import { describe, expect, it } from "vitest";
import { en as core } from "@/i18n/en";
import { pages } from "@/i18n/en/pages";
import { zh as coreZh } from "@/i18n/zh";
import { pages as pagesZh } from "@/i18n/zh/pages";
import { findings, refusals } from "@/i18n/zh/refusals";
import { formatDuration, parseDuration } from "./duration";
import { instantToWall, isSameClock, lastNoons, makeFormat, relative, wallToInstant } from "./format";
import { scheduleInWords } from "./words";

const en = { ...core, ...pages };
const zh = { ...coreZh, ...pagesZh, refusals: { ...refusals, ...findings } };

it("durations have at most two units", () => {
  const said = [0, 38, 999, 6200, 9960, 52_000, 59_600, 252_000, 3_599_800, 5_520_000, 273_600_000].map(
    formatDuration,
  );
  expect(said).toEqual([
    "0 ms",
    "38 ms",
    "999 ms",
    "6.2 s",
    "10 s",
    "52 s",
    "1m",
    "4m 12s",
    "1h",
    "1h 32m",
    "3d 4h",
  ]);
});

it("durations are read as documents write them", () => {
  expect(parseDuration("1h30m")).toBe(5_400_000);
  expect(parseDuration("90s")).toBe(90_000);
  expect(parseDuration("7d")).toBe(604_800_000);
  for (const bad of ["", "5", "5 minutes", "-1s"]) expect(parseDuration(bad)).toBeUndefined();
});

describe("a wall clock", () => {
  it("is an instant of its zone, on both sides of a clock change", () => {
    expect(new Date(wallToInstant("2026-11-23T02:00", "Asia/Shanghai")).toISOString()).toBe(
      "2026-11-22T18:00:00.000Z",
    );
    expect(new Date(wallToInstant("2026-03-08T01:30", "America/New_York")).toISOString()).toBe(
      "2026-03-08T06:30:00.000Z",
    );
    expect(new Date(wallToInstant("2026-03-08T03:30", "America/New_York")).toISOString()).toBe(
      "2026-03-08T07:30:00.000Z",
    );
  });

  it("is told from an instant", () => {
    expect(instantToWall("2026-11-22T18:00:00Z", "Asia/Shanghai")).toBe("2026-11-23T02:00");
    expect(instantToWall("2026-01-05T00:00:00Z", "UTC")).toBe("2026-01-05T00:00");
  });
});

it("hours are counted as the reader does, but in logs", () => {
  const noon = makeFormat("en", "UTC", 12).in("Asia/Shanghai");
  expect(noon.time("2026-11-23T06:32:08.123Z")).toBe("02:32:08 pm");
  expect(noon.minute("2026-11-22T16:05:00Z")).toBe("12:05 am");
  expect(noon.millis("2026-11-23T06:32:08.123Z")).toBe("14:32:08.123");
  expect(makeFormat("en", "Asia/Shanghai").time("2026-11-23T06:32:08Z")).toBe("14:32:08");
});

it("instants are said in the language and the zone of the reader", () => {
  expect(makeFormat("en", "Asia/Shanghai").full("2026-11-22T18:00:00Z")).toBe(
    "Mon, 23 Nov 2026, 02:00:00 UTC+8",
  );
  expect(makeFormat("zh", "Europe/Berlin").full("2026-11-22T18:00:00Z")).toBe(
    "2026年11月22日周日 19:00:00 UTC+1",
  );
  expect(makeFormat("zh", "UTC").day("2026-11-22T18:00:00Z")).toContain("11月22日");
  expect(relative(1_000_000, 1_300_000, en)).toBe("5 min ago");
  expect(relative(1_300_000, 1_000_000, zh)).toBe("5 分钟后");
});

describe("schedules in words", () => {
  const words = (cron: string) => [scheduleInWords({ cron }, en), scheduleInWords({ cron }, zh)];
  it("are short where people say it shortly", () => {
    expect(words("*/5 * * * *")).toEqual(["Every 5 minutes", "每 5 分钟"]);
    expect(words("30 9 * * 1-5")).toEqual(["Weekdays at 09:30", "工作日 09:30"]);
    expect(words("0 0 2 ? * MON-SAT")).toEqual(["Mon to Sat at 02:00", "每周一至周六 02:00"]);
    expect(words("0 0 2 ? * FRI#3")).toEqual([
      "On the third Friday of the month at 02:00",
      "每月第 3 个星期五 02:00",
    ]);
  });
  it("say by the next fire which minute H is", () => {
    const at = "2026-01-05T18:37:00Z";
    const hashed = (cron: string, zone?: string) => scheduleInWords({ cron, zone }, en, at);
    expect(hashed("H * * * *")).toBe(scheduleInWords({ cron: "37 * * * *" }, en));
    expect(hashed("H H * * 1-5", "Asia/Shanghai")).toBe("Weekdays at 02:37");
    expect(hashed("0 H H ? * *")).toBe(scheduleInWords({ cron: "0 37 18 ? * *" }, en));
    expect(hashed("H/15 * * * *")).toBe("H/15 * * * *");
  });
  it("are found for what the sentence cannot say", () => {
    expect(words("0 15 10 ? * 6L 2026-2027")).toEqual([
      "At 10:15, on the last Friday of the month, 2026 through 2027",
      expect.stringContaining("2026"),
    ]);
  });
  it("are the expression itself where there are none", () => {
    expect(words("H 2 * * *")).toEqual(["H 2 * * *", "H 2 * * *"]);
  });
  it("say intervals of the calendar", () => {
    const words = (every: object) => {
      const s = { every: { at: ["09:00"], from: "2026-01-06", ...every } };
      return [scheduleInWords(s, en), scheduleInWords(s, zh)];
    };
    expect(words({ weeks: 2, on: ["tue"] })).toEqual([
      "Every 2 weeks on Tue at 09:00, from 2026-01-06",
      "每 2 周 周二 09:00（自 2026-01-06 起）",
    ]);
    expect(words({ weeks: 1 })).toEqual(["Every week on Tue at 09:00", "每周 周二 09:00"]);
    expect(words({ days: 3, at: ["08:00", "20:00"] })).toEqual([
      "Every 3 days at 08:00 and 20:00, from 2026-01-06",
      "每 3 天 08:00、20:00（自 2026-01-06 起）",
    ]);
    expect(words({ months: 3, on: ["last fri", "31", "last day", "2nd tue"] })[0]).toBe(
      "Every 3 months on the last Friday, the 31st, the last day and the second Tuesday at 09:00, from 2026-01-06",
    );
    expect(words({ months: 1, on: ["last fri"] })).toEqual([
      "Every month on the last Friday at 09:00",
      "每月 最后一个星期五 09:00",
    ]);
    expect(words({ years: 1 })).toEqual([
      "Every year in January on the 6th at 09:00",
      "每年 1 月 6 日 09:00",
    ]);
    // As YAML may have it, and what nobody knows.
    expect(words({ months: 1, on: [31, "someday"], at: "09:00" })[0]).toBe(
      "Every month on the 31st and someday at 09:00",
    );
  });
  it("say intervals", () => {
    expect(scheduleInWords({ fixed_rate: "90s" }, en)).toBe("Every 90 seconds");
    expect(scheduleInWords({ fixed_rate: "1000s" }, en)).toBe("Every 16m 40s");
    for (const [interval, cron] of [
      ["5s", "*/5 * * * * ?"],
      ["300s", "*/5 * * * *"],
      ["1m", "* * * * *"],
      ["120m", "0 */2 * * *"],
    ]) {
      for (const t of [en, zh]) {
        expect(scheduleInWords({ fixed_rate: interval }, t)).toBe(scheduleInWords({ cron }, t));
        expect(scheduleInWords({ cron: `@every ${interval}` }, t)).toBe(scheduleInWords({ cron }, t));
      }
    }
    expect(scheduleInWords({ fixed_delay: "30s" }, en)).toBe("30 s after each end");
    expect(scheduleInWords({}, en)).toBe("Manual");
  });
});

it("zones whose clocks show the same need no label, but only for as long as they do", () => {
  const winter = Date.parse("2026-01-05T12:00:00Z");
  const summer = Date.parse("2026-07-05T12:00:00Z");
  expect(isSameClock("UTC", "Europe/London", winter)).toBe(true);
  expect(isSameClock("UTC", "Europe/London", summer)).toBe(false);
  expect(isSameClock("Asia/Shanghai", "Asia/Taipei", summer)).toBe(true);
});

it("the last days are those of the zone, however long they are", () => {
  const noons = (now: string, days: number, zone: string) =>
    lastNoons(Date.parse(now), days, zone).map((at) => new Date(at).toISOString());
  expect(noons("2026-03-30T01:00:00Z", 3, "Europe/Berlin")).toEqual([
    "2026-03-28T11:00:00.000Z",
    "2026-03-29T10:00:00.000Z",
    "2026-03-30T10:00:00.000Z",
  ]);
  expect(noons("2026-10-25T23:30:00Z", 2, "Europe/Berlin")).toEqual([
    "2026-10-25T11:00:00.000Z",
    "2026-10-26T11:00:00.000Z",
  ]);
  expect(noons("2026-01-01T18:20:00Z", 1, "Asia/Kathmandu")).toEqual(["2026-01-02T06:15:00.000Z"]);
});

it("a clock says its day unless it is today, and its year unless it is this one", () => {
  const f = makeFormat("en", "UTC");
  const now = Date.parse("2026-01-05T12:00:00Z");
  const written = ["2026-01-05T09:30:08Z", "2026-01-04T23:59:08Z", "2025-12-31T23:59:08Z"];
  expect(written.map((at) => f.short(at, now))).toEqual(["09:30:08", "4 Jan 23:59", "31 Dec 2025 23:59"]);
  expect(written.map((at) => f.dated(at, now))).toEqual([
    "09:30:08",
    "4 Jan 23:59:08",
    "31 Dec 2025 23:59:08",
  ]);
  const began = "2026-01-04T23:59:00Z";
  expect(["2026-01-04T23:59:08Z", "2026-01-05T00:00:01Z"].map((at) => f.dated(at, now, began))).toEqual([
    "23:59:08",
    "5 Jan 00:00:01",
  ]);
});
