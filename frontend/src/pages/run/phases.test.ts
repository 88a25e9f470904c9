import { expect, it } from "vitest";
import type { Run } from "@/api/schema.gen";
import { aRun, at } from "@/test/factories";
import { phasesOf } from "./phases";

const words = {
  delay: "delay",
  commit: "commit",
  queue: "queue",
  deliver: "deliver",
  begin: "begin",
  wait: "wait",
  running: "running",
  ran: "ran",
};

/** The phases of attempts, the first one first, at 100 seconds after noon: what each is, and for how many seconds. */
const phases = (...attempts: Run[]) =>
  phasesOf(attempts, Date.parse(at(100)), undefined, words, String, (a) => a.status).map(
    (p) => `${p.label} ${p.ms / 1000}`,
  );

it("a run waits from its fire time, but a fire of the past only since somebody asked for it", () => {
  const run = { committed_at: at(10), delivered_at: at(11), started_at: at(13), finished_at: at(20) };
  expect(phases(aRun(run))).toEqual(["commit 10", "deliver 1", "begin 2", "ran 7"]);
  expect(phases(aRun({ ...run, cause: "backfill" }))).toEqual(["deliver 1", "begin 2", "ran 7"]);
});

it("the time in the queue of its own job is not the delay of the scheduler", () => {
  const run = {
    queued_at: at(1),
    committed_at: at(10),
    delivered_at: at(11),
    started_at: at(13),
    finished_at: at(20),
  };
  expect(phases(aRun(run))).toEqual(["commit 1", "queue 9", "deliver 1", "begin 2", "ran 7"]);
  expect(phases(aRun({ ...run, cause: "manual" }))).toEqual(["queue 9", "deliver 1", "begin 2", "ran 7"]);
});

it("an attempt is over when another one has begun, though nothing is known of its end", () => {
  const first = aRun({ status: "pending", started_at: at(1), finished_at: undefined });
  const second = aRun({ attempt: 2, committed_at: at(5), started_at: at(6), finished_at: at(8) });
  expect(phases(first, second)).toEqual(["delay 1", "1 pending 4", "wait 1", "2 succeeded 2"]);
});

it("an attempt that was lost before it began is a time of waiting", () => {
  const first = aRun({ status: "lost", started_at: undefined, finished_at: at(4) });
  const second = aRun({ attempt: 2, committed_at: at(5), started_at: at(6), finished_at: at(8) });
  expect(phases(first, second)).toEqual(["delay 4", "wait 2", "2 succeeded 2"]);
});
