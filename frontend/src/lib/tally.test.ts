import { expect, it } from "vitest";
import { byJob, proofOf } from "./tally";

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

it("proves that fires are accounted for only where none is wrong or cannot be judged", () => {
  const of = (total: { fires: number; [figure: string]: number }) => proofOf({ total });
  const well = of({ fires: 9, ran: 4, caught_up: 1, skipped: 1, missed: 1, pending: 1, undecided: 1 });
  expect(well).toEqual({ due: 9, accounted: 7, open: 2, wrong: 0, unjudged: 0, holds: true });
  expect(of({ fires: 3, ran: 2, discrepancies: 1 })).toMatchObject({ accounted: 2, wrong: 1, holds: false });
  expect(of({ fires: 3, ran: 2, unjudged: 1 })).toMatchObject({ accounted: 2, unjudged: 1, holds: false });
  expect(of({ fires: 0 })).toMatchObject({ due: 0, accounted: 0, holds: true });
});
