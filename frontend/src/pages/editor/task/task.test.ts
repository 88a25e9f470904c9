import { expect, it } from "vitest";
import { draftOf } from "./draft";
import { changed, kindOfTask, toKind } from "./kinds";

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
