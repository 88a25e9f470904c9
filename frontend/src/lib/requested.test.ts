import { expect, it } from "vitest";
import { dueIn, requestedByJob, requestedTotal } from "./requested";

const run = (job: string, fire_time: string) => ({ run_id: `${job} ${fire_time}`, job, fire_time });

it("adds requested runs to the fires of each interval, if they are known", () => {
  const counts = { from: "", to: "", counts: [1, 0, 2], jobs: 1, complete: true };
  expect(dueIn(counts)).toEqual([1, 0, 2]);
  expect(dueIn({ ...counts, requested: [0, 4, 1] })).toEqual([1, 4, 3]);
});

it("sorts requested runs by job", () => {
  const runs = [run("a/x", "1"), run("a/y", "2"), run("a/x", "3")];
  expect([...requestedByJob({ runs })]).toEqual([
    ["a/x", ["1", "3"]],
    ["a/y", ["2"]],
  ]);
  expect(requestedByJob(undefined).size).toBe(0);
});

it("counts requested runs that are listed, or told by the hour", () => {
  expect(requestedTotal(undefined)).toBe(0);
  expect(requestedTotal({ runs: [run("a/x", "1")] })).toBe(1);
  expect(
    requestedTotal({
      runs: [],
      hours: [
        { from: "", runs: 700 },
        { from: "", runs: 400 },
      ],
    }),
  ).toBe(1100);
});
