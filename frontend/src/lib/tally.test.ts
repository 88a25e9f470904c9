import { expect, it } from "vitest";
import { byJob } from "./tally";

it("adds the parts of a job's days, and puts first what went wrong", () => {
  const jobs = byJob([
    { job: "a/fine", day: "2026-01-05T00:00:00Z", counts: { fires: 3, ran: 3 } },
    { job: "a/late", day: "2026-01-05T00:00:00Z", counts: { fires: 2, missed: 1, ran: 1 } },
    { job: "a/fine", day: "2026-01-05T00:00:00Z", counts: { fires: 1, ran: 1, failed: 1 } },
    { job: "a/wrong", day: "2026-01-06T00:00:00Z", counts: { fires: 1, discrepancies: 1 } },
  ]);
  expect(jobs.map((j) => j.job)).toEqual(["a/wrong", "a/late", "a/fine"]);
  expect(jobs[2]?.total).toEqual({ fires: 4, ran: 4, failed: 1 });
  expect([...(jobs[2]?.days.keys() ?? [])]).toEqual(["2026-01-05T00:00:00Z"]);
});
