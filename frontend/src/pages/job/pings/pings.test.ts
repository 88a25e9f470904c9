import { expect, it } from "vitest";
import type { Job, Run } from "@/api/schema.gen";
import { hostOf } from "@/lib/elsewhere";
import { aRun } from "@/test/factories";
import { heardOf } from "./heard";
import { crontabOf, linesFor, whereOf } from "./paste";

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
  const get = { ...job, task: { watch: { methods: ["GET" as const] } } };
  expect(linesFor("curl", get, where)).toBe(
    "30 2 * * 1-5 COMMAND; curl -fsS -m 10 --retry 3 -o /dev/null -X GET https://carillon.example.org/base/ping/carillon_ping_a_b/$?",
  );
});

it("gives commands without times if cron cannot express the schedule", () => {
  const where = { server: "https://carillon.example.org", token: "TOKEN" };
  const job = (schedule: Job["schedule"]) => ({ job: "ops/backup", schedule, task: { watch: {} } });
  expect(linesFor("crontab", job({ fixed_rate: "90m" }), where)).toBe(
    "CARILLON_SERVER=https://carillon.example.org CARILLON_WATCH_TOKEN=TOKEN /usr/local/bin/carillon watch ops/backup -c 'COMMAND'",
  );
  expect(linesFor("curl", job({ once: "2026-01-05T03:00:00Z" }), where)).toMatch(/^COMMAND; curl /);
  for (const cron of ["H 3 * * *", "0 0 2 ? * MON#1", "0 3 L * *", "0 3 15W * *", "0 3 * * 5L", "@daily"])
    expect(crontabOf(job({ cron }))).toBeUndefined();
  for (const cron of ["30 2 * * 1-5", "0 3 1 JUL,dec *", "*/5 9-17 * * Mon-Thu"])
    expect(crontabOf(job({ cron }))).toBe(cron);
  expect(crontabOf(job(undefined))).toBeUndefined();
});
