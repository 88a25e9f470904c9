import { expect, it } from "vitest";
import type { ChannelItem, Group, Instance, JobItem, JobVersion } from "@/api/schema.gen";
import { aRun, at } from "@/test/factories";
import { concernsOf, type Known } from "./concerns";

const calm: Known = {
  unowned: 0,
  groups: [],
  channels: [],
  gaveUp: { jobs: 0, job: undefined },
  alike: [],
  failing: [],
  late: [],
  dead: 0,
  missed: 0,
  now: Date.parse(at(3600)),
};

const failedAt = (job: string, ...seconds: number[]): JobItem =>
  ({
    definition: { job, title: `Title of ${job}` },
    last_runs: seconds.map((s) => aRun({ job, status: "failed", fire_time: at(s) })),
  }) as JobItem;

const group = (name: string, state: Group["state"], instances: Partial<Instance>[] = []): Group => ({
  executor_group: name,
  state,
  instances: instances.map(
    (i) => ({ executor_group: name, instance: "one", state: "online", ...i }) as Instance,
  ),
});

const ids = (known: Partial<Known>) => concernsOf({ ...calm, ...known }).map((c) => c.id);

it("what stops many jobs comes before a job that fails, and that before what was missed or refused", () => {
  const known: Partial<Known> = {
    unowned: 3,
    groups: [group("etl", "empty"), group("web", "online", [{ instance: "two", state: "lost", at: at(0) }])],
    channels: [{ definition: { channel: "chat", kind: "slack" } } as ChannelItem],
    gaveUp: { jobs: 2, job: { job: "web/tired" } as JobVersion },
    alike: [{ value: "no answer from #", count: 237, message: { text: "no answer from 10.0.0.7" } }],
    failing: [failedAt("web/report", 60)],
    late: [{ job: "web/slow", run_id: "r", at: at(5000), by: "timeout", late: true }],
    dead: 4,
    missed: 2,
  };
  expect(ids(known)).toEqual([
    "unowned",
    "empty etl",
    "lost web/two",
    "channels chat",
    "gave up 2 web/tired",
    "error no answer from #",
    "job web/report",
    "late 1 r",
    "dead",
    "missed",
  ]);
});

it("several groups or executors in the same trouble are one row", () => {
  const groups = [
    group("a", "empty"),
    group("b", "empty"),
    group("c", "online", [
      { instance: "one", state: "lost", at: at(0) },
      { instance: "two", state: "lost", at: at(0) },
    ]),
  ];
  expect(concernsOf({ ...calm, groups })).toEqual([
    { id: "empty a b", kind: "several", of: "empty", names: ["a", "b"] },
    { id: "lost one two", kind: "several", of: "lost", names: ["one", "two"] },
  ]);
});

it("of jobs that fail those come first that failed more often in a row, and then for longer", () => {
  const long = Array.from({ length: 8 }, (_, i) => 800 - 100 * i);
  const failing = [
    failedAt("a/once", 60),
    failedAt("a/new", ...long.map((s) => s + 50)),
    failedAt("a/old", ...long),
  ];
  expect(ids({ failing })).toEqual(["job a/old", "job a/new", "job a/once"]);
  const [old, , once] = concernsOf({ ...calm, failing });
  expect([old, once]).toMatchObject([
    { title: "Title of a/old", streak: 8, more: true },
    { title: "Title of a/once", streak: 1, more: false },
  ]);
});

it("a group with executors is stuck when its oldest run has waited for minutes", () => {
  const waits = (of: Group, runs: number, seconds: number): Group => ({
    ...of,
    waiting_runs: runs,
    waiting_since: at(seconds),
  });
  const groups = [
    waits(group("web", "online"), 5000, 2000),
    waits(group("mail", "online"), 3, 3500), // not for long
    waits(group("etl", "empty"), 1, 100), // which is said of the group
    group("ops", "online"), // nobody knows
  ];
  expect(concernsOf({ ...calm, groups })).toEqual([
    { id: "empty etl", kind: "empty", group: "etl" },
    { id: "stuck web", kind: "stuck", group: "web", runs: 5000, at: at(2000) },
  ]);
});
