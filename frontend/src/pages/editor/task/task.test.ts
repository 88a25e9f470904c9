import { expect, it } from "vitest";
import { draftOf } from "./draft";
import { asElsewhere, changed, kindOfTask, toKind } from "./kinds";

it("keeps of a task what its next kind has too, and nothing else", () => {
  const http = toKind({ shell: "true", dir: "/srv", env: { A: "1" }, secrets: { T: "token" } }, "http");
  expect(http).toEqual({ http: { method: "GET", url: "" }, env: { A: "1" }, secrets: { T: "token" } });
  expect(toKind(http, "handler")).toEqual({ handler: "" });
  expect(kindOfTask(toKind(http, "command"))).toBe("command");
  expect(toKind(http, "script").script?.source).toContain("CARILLON_PARAMS"); // can be tried out at once
});

it("leaves out what is empty, but never what makes the kind", () => {
  expect(changed({ shell: "true", dir: "/srv" }, { dir: "" })).toEqual({ shell: "true" });
  expect(changed({ shell: "true" }, { shell: "", secrets: {} })).toEqual({ shell: "" });
});

it("tries a draft out as a job that fires never and that no other job notices", () => {
  const draft = draftOf(
    {
      job: `billing/${"x".repeat(63)}`,
      schedule: { cron: "* * * * *" },
      children: [{ job: "a/b" }],
      retry: { limit: 3 },
      timeout: "1m",
      task: { shell: "true" },
      params: { a: 1 },
    },
    "a test",
    "abcde",
  );
  expect(draft).toEqual({
    job: `billing/${"x".repeat(51)}-draft-abcde`,
    description: "a test",
    timeout: "1m",
    task: { shell: "true" },
    params: { a: 1 },
  });
});

it("a job whose runs are done elsewhere keeps no field that only executors use", () => {
  const job = asElsewhere({
    job: "ops/backup",
    title: "Backup",
    schedule: { cron: "0 3 * * *", zone: "Europe/Berlin", spread: "2m" },
    overlap: { policy: "skip" },
    misfire: { policy: "fire_all" },
    retry: { limit: 3 },
    route: "random",
    labels: { zone: "eu" },
    priority: "high",
    delivery: "at_most_once",
    kill_grace: "5s",
    start_within: "1m",
    total_timeout: "1h",
    params: { a: 1 },
    timeout: "2h",
    task: { shell: "true", env: { A: "1" }, secrets: { T: "token" } },
    children: [{ job: "ops/check" }],
  });
  expect(job).toEqual({
    job: "ops/backup",
    title: "Backup",
    schedule: { cron: "0 3 * * *", zone: "Europe/Berlin" },
    timeout: "2h",
    task: { watch: { grace: "10m" } },
    children: [{ job: "ops/check" }],
  });
  expect(kindOfTask(job.task)).toBe("watch");
});
