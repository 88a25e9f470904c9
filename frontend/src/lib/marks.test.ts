import { expect, it } from "vitest";
import type { AuditEntry, JobVersion } from "@/api/schema.gen";
import { aRun, at } from "@/test/factories";
import { marksOf, objectsOf } from "./marks";

const version = (n: number, seconds: number): JobVersion => ({
  job: "billing/report",
  task: { shell: "true" },
  version: n,
  effective_from: at(seconds),
});

const entry = (operation: string, seconds: number): AuditEntry => ({
  id: `${operation} ${seconds}`,
  at: at(seconds),
  user: "lin.wei",
  how: "session",
  operation,
  object: "group billing",
  result: "done",
});

it("marks changes before the run that they come before", () => {
  const runs = [0, 60, 120].map((s) => aRun({ fire_time: at(s) }));
  const marks = marksOf(
    runs,
    [version(4, 300), { ...version(3, 70), deleted: true }, version(2, 60), version(1, -60)],
    [entry("pauseGroup", 90), entry("drainInstance", 100), entry("putCalendar", 0)],
  );
  // What was before the first run is not in the chart; neither is a deletion, nor what no fire depends on.
  expect(marks.map((m) => [m.key, m.before])).toEqual([
    ["v2", 1],
    ["pauseGroup 90", 2],
    ["v4", 3],
  ]);
  expect(marksOf([], [], [])).toEqual([]);
});

it("knows what the fires of a job depend on", () => {
  const job = {
    ...version(1, 0),
    schedule: { cron: "@daily", only: ["work"], except: ["holidays", "work"] },
  };
  expect(objectsOf(job, "billing")).toEqual([
    "group billing",
    "global pause",
    "calendar work",
    "calendar holidays",
  ]);
});
