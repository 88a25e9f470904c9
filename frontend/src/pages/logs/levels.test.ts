import { expect, it } from "vitest";
import { aLine } from "@/test/factories";
import { levelBars, linesIn, newestFirst } from "./levels";

const bucket = (at: string, counts: object) => ({
  at,
  debug: 0,
  info: 0,
  warn: 0,
  error: 0,
  other: 0,
  ...counts,
});

it("a bar ends where the next begins, has all levels, and says whether it was counted", () => {
  const bars = levelBars({
    from: "2026-01-05T12:00:00.000Z",
    to: "2026-01-05T12:00:05.000Z",
    step: "2s",
    since: "2026-01-05T12:00:02.000Z",
    complete: false,
    buckets: [
      bucket("2026-01-05T12:00:00.000Z", {}),
      bucket("2026-01-05T12:00:02.000Z", { debug: 1, info: 2, other: 4 }),
      bucket("2026-01-05T12:00:04.000Z", { info: 1, warn: 2, error: 3 }),
    ],
  });
  const noon = Date.parse("2026-01-05T12:00:00.000Z");
  expect(bars).toEqual([
    { from: noon, to: noon + 2000, error: 0, warn: 0, rest: 0, counted: false },
    { from: noon + 2000, to: noon + 4000, error: 0, warn: 0, rest: 7, counted: true },
    { from: noon + 4000, to: noon + 5000, error: 3, warn: 2, rest: 1, counted: true },
  ]);
  expect(linesIn(bars)).toBe(13);
});

it("lines of several runs are put in the order of time, the newest first", () => {
  const at = "2026-01-05T12:00:09.000Z";
  const lines = [aLine(3), aLine(9), aLine(2, { run_id: "b", at }), aLine(1, { run_id: "b", at })];
  expect(newestFirst(lines).map((l) => l.seq)).toEqual([9, 2, 1, 3]);
});
