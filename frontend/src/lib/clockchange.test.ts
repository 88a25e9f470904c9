import { expect, it } from "vitest";
import type { Preview } from "@/api/schema.gen";
import { clock as t } from "@/i18n/en/clock";
import { clockChangeInWords } from "./clockchange";
import { makeFormat } from "./format";

const spring: Preview["clock"] = {
  at: "2026-03-29T01:00:00Z",
  before_seconds: 3600,
  after_seconds: 7200,
  gap: "fire",
  overlap: "first",
};
function said(kind: Preview["kind"], clock?: Preview["clock"]) {
  const preview: Preview = { schedule: "x", kind, fires: [], clock };
  return clockChangeInWords(preview, "Europe/Berlin", t, makeFormat("en", "UTC"));
}

it("says what a clock change does to schedules on the wall clock", () => {
  for (const kind of ["cron", "every"] as const) {
    expect(said(kind, spring)).toMatch(/clocks go from 02:00 forward to 03:00\. A fire at a time/);
    expect(said(kind)).toBe("Europe/Berlin has no clock changes.");
  }
});

it("says that intervals of elapsed time know no clock changes", () => {
  expect(said("fixed_rate", spring)).toBe(t.elapsed);
  expect(said("fixed_delay", spring)).toBe(t.elapsed);
  expect(said("once", spring)).toBeUndefined();
});
