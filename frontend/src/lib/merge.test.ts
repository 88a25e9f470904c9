import { expect, it } from "vitest";
import { meetings, mergeInto } from "./merge";

const was = {
  job: "a/b",
  description: "old",
  schedule: { cron: "0 3 * * *", zone: "UTC" },
  task: { shell: "one" },
  labels: { zone: "eu" },
};

it("tells who changed which field, and where both did", () => {
  const mine = { ...was, description: "mine", schedule: { cron: "0 4 * * *", zone: "UTC" }, timeout: "1m" };
  const { labels: _, ...rest } = was;
  const theirs = { ...rest, description: "theirs", task: { shell: "two" }, timeout: "1m" };
  expect(meetings(was, mine, theirs).map((m) => [m.field, m.by])).toEqual([
    ["description", "clash"],
    ["schedule.cron", "mine"],
    ["task.shell", "theirs"],
    ["labels", "theirs"],
    ["timeout", "alike"],
  ]);
  expect(meetings(was, was, { ...was, schedule: { zone: "UTC", cron: "0 3 * * *" } })).toEqual([]);
});

it("puts what one keeps of one's own into what the other saved", () => {
  const mine = { ...was, description: "mine", schedule: { cron: "0 4 * * *", zone: "UTC" }, labels: {} };
  const theirs = { ...was, description: "theirs", task: { shell: "two" }, schedule: { cron: "0 3 * * *" } };
  const kept = meetings(was, mine, theirs).filter((m) => m.by === "mine");
  expect(mergeInto(theirs, kept)).toEqual({
    job: "a/b",
    description: "theirs",
    schedule: { cron: "0 4 * * *" },
    task: { shell: "two" },
  });
  expect(theirs.schedule).toEqual({ cron: "0 3 * * *" }); // theirs stays what it was
});

it("takes a field as a whole whose parts make sense only together", () => {
  const mine = { ...was, task: { http: { url: "https://example.com" } } };
  const theirs = { ...was, task: { shell: "two" } };
  const [only, ...more] = meetings(was, mine, theirs, ["task"]);
  expect(more).toEqual([]);
  expect(only).toMatchObject({ field: "task", by: "clash" });
  expect(mergeInto(theirs, only ? [only] : []).task).toEqual({ http: { url: "https://example.com" } });
});
