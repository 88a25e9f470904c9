import { expect, it } from "vitest";
import type { Run } from "@/api/schema.gen";
import { hostOf } from "@/lib/elsewhere";
import { aRun } from "@/test/factories";
import { heardOf } from "./heard";
import { linesFor, whereOf } from "./paste";

const run = (status: Run["status"], more: Partial<Run> = {}) => ({ ...aRun(), status, ...more });

it("says what the newest runs of a job tell of its pings", () => {
  expect(heardOf([], false).state).toBe("never");
  expect(heardOf([run("skipped")], false).state).toBe("never");
  expect(heardOf([], true).state).toBe("waiting");
  expect(heardOf([run("queued"), run("missed")], true).state).toBe("expected");
  expect(heardOf([run("queued"), run("running", { reported: true })], true).state).toBe("running");
  expect(heardOf([run("missed"), run("succeeded", { reported: true })], true).state).toBe("late");
  expect(heardOf([run("timed_out", { reported: true })], true).state).toBe("late");
  expect(heardOf([run("skipped"), run("failed", { reported: true })], true).state).toBe("ended");
});

it("tells the host from which a run was reported", () => {
  expect(hostOf({ instance: "web-1" })).toBeUndefined();
  expect(hostOf({ instance: "host:web1", reported: true })).toBe("web1");
  expect(hostOf({ reported: true })).toBe("");
});

it("gives the lines to paste by the job's schedule and methods", () => {
  const where = whereOf("https://carillon.example.org/base/ping/carillon_ping_a_b");
  expect(where).toEqual({ server: "https://carillon.example.org/base", token: "carillon_ping_a_b" });
  const job = { job: "ops/backup", schedule: { cron: "30 2 * * 1-5" }, task: { watch: {} } };
  expect(linesFor("crontab", job, where)).toBe(`CARILLON_SERVER=https://carillon.example.org/base
CARILLON_WATCH_TOKEN=carillon_ping_a_b
30 2 * * 1-5 /usr/local/bin/carillon watch ops/backup -c 'COMMAND'`);
  const quartz = {
    ...job,
    schedule: { cron: "0 0 2 ? * MON#1" },
    task: { watch: { methods: ["GET" as const] } },
  };
  expect(linesFor("curl", quartz, where)).toBe(
    "0 3 * * * COMMAND; curl -fsS -m 10 --retry 3 -o /dev/null -X GET https://carillon.example.org/base/ping/carillon_ping_a_b/$?",
  );
});
