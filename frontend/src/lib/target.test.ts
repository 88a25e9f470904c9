import { expect, it } from "vitest";
import type { ReportRow } from "@/api/schema.gen";
import { reports } from "@/i18n/en/reports";
import { reports as chinese } from "@/i18n/zh/reports";
import { judgedOf, lateBy, verdictInWords } from "./target";

const spread = { count: 0, p50_ms: 0, p90_ms: 0, p95_ms: 0, p99_ms: 0 };

function aRow(change: Partial<ReportRow>): ReportRow {
  return {
    runs: 0,
    statuses: {},
    failure_ratio: 0,
    scheduled: 0,
    scheduled_succeeded: 0,
    attempts: 0,
    duration: spread,
    committed_after: spread,
    delivered_after: spread,
    started_after: { ...spread, count: 200, p95_ms: 100_000 },
    finished_after: spread,
    ...change,
  };
}

it("says by how much a target is missed", () => {
  const said = (target: ReportRow["target"], texts = reports) =>
    verdictInWords(aRow(target ? { target } : {}), { reports: texts });
  expect(said(undefined)).toBeUndefined();
  expect(said({ met: true, success_rate: 99, error_budget: 2 })).toBe("Met");
  expect(said({ met: false, success_rate: 99, error_budget: -1 })).toBe("Missed by 1 run");
  expect(said({ met: false, start_delay: "1m", error_budget: 0 })).toBe("Waits 40 s too long");
  const barely = { met: false, start_delay: "100s", error_budget: 0 };
  expect(said(barely)).toBe("Waits 1 ms too long");
  const both = { met: false, success_rate: 99, start_delay: "1m", error_budget: -3 };
  expect(said(both)).toBe("Missed by 3 runs, waits 40 s too long");
  expect(said(both, chinese)).toBe("未达标，多失败 3 次，等待超出 40 s");
  expect(lateBy(aRow({ target: { met: true, start_delay: "2m", error_budget: 0 } }))).toBe(0);
});

it("judges a job by what its schedule asked for, and one without a schedule by all runs", () => {
  const statuses = { succeeded: 8, failed: 3, missed: 2, skipped: 50, cancelled: 4 };
  expect(judgedOf(aRow({ statuses, scheduled: 10, scheduled_succeeded: 7 }))).toEqual({ ok: 7, bad: 3 });
  expect(judgedOf(aRow({ statuses }))).toEqual({ ok: 8, bad: 5 });
  expect(judgedOf(aRow({ statuses }), true)).toEqual({ ok: 0, bad: 0 }); // a day with runs by hand only
});
