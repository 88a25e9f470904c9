import { afterEach, expect, it } from "vitest";
import { noteVisit, recent } from "./recent";

afterEach(() => localStorage.clear());

it("the jobs that were looked at are kept, the newest first and each once", () => {
  for (const path of [
    "/jobs/a/one",
    "/jobs",
    "/jobs/new",
    "/jobs/a/two/runs",
    "/runs/x",
    "/jobs/a/one/versions",
  ])
    noteVisit(path);
  expect(recent()).toEqual([
    { path: "/jobs/a/one", text: "a/one" },
    { path: "/jobs/a/two", text: "a/two" },
  ]);
});

it("no more than six are kept, and what is no visit is left out", () => {
  for (let n = 0; n < 9; n++) noteVisit(`/jobs/a/j${n}`);
  expect(recent().map((r) => r.text)).toEqual(["a/j8", "a/j7", "a/j6", "a/j5", "a/j4", "a/j3"]);
  localStorage.setItem("carillon.recent", '[{"path":1},"x"]');
  expect(recent()).toEqual([]);
});
