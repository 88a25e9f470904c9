import { expect, it } from "vitest";
import type { ChannelItem, Group, Instance, JobItem, JobVersion, Run } from "@/api/schema.gen";
import { aRun, at } from "@/test/factories";
import { concernsOf, type Known } from "./concerns";

const calm: Known = {
  unowned: 0,
  groups: [],
  channels: [],
  gaveUp: { jobs: 0, job: undefined },
  alike: [],
  failing: [],
  inFlight: [],
  dead: 0,
  missed: 0,
  now: Date.parse(at(3600)),
};

const failedAt = (job: string, ...seconds: number[]): JobItem =>
  ({
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
    { streak: 8, more: true },
    { streak: 1, more: false },
  ]);
});

it("runs wait too long when nobody has taken them for minutes, though their group has executors", () => {
  const waits = (job: string, status: Run["status"], seconds: number) =>
    aRun({ job, status, fire_time: at(seconds) });
  const inFlight = [
    waits("web/a", "pending", 3000),
    waits("web/b", "pending", 2000),
    waits("web/c", "pending", 3500), // not for long
    { ...waits("web/c", "pending", -90_000), committed_at: at(3550) }, // a backfill of a fire long past
    waits("web/d", "queued", 100), // for its own job's run
    waits("etl/e", "pending", 100), // for an executor, which is said of the group
  ];
  const groups = [group("web", "online"), group("etl", "empty")];
  expect(concernsOf({ ...calm, groups, inFlight })).toEqual([
    { id: "empty etl", kind: "empty", group: "etl" },
    { id: "stuck web", kind: "stuck", group: "web", runs: 2, at: at(2000) },
  ]);
});
