import { expect, it } from "vitest";
import type { BulkBackfillJob } from "@/api/schema.gen";
import { othersInWords, totals } from "./bulkbackfill";

it("adds up what the jobs of a backfill say", () => {
  const job = (more: Partial<BulkBackfillJob>): BulkBackfillJob => ({
    job: "g/a",
    state: "working",
    fires: 10,
    begun: 4,
    round: 1,
    ...more,
  });
  expect(totals([job({ alive: 2 }), job({ begun: 10, succeeded: 8, failed: 2 })])).toEqual({
    fires: 20,
    begun: 14,
    alive: 2,
    succeeded: 8,
    failed: 2,
  });
});

it("says what became of fires that are not selected", () => {
  const words = { ran: "Ran", skipped: "Skipped" };
  expect(
    othersInWords(
      [
        { outcome: "ran", fires: 22 },
        { outcome: "skipped", fires: 2 },
      ],
      words,
    ),
  ).toBe("22 ran, 2 skipped");
});
