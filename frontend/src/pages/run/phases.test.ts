import { expect, it } from "vitest";
import type { Run } from "@/api/schema.gen";
import { aRun, at } from "@/test/factories";
import { phasesOf } from "./phases";

const words = {
  delay: "delay",
  commit: "commit",
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
