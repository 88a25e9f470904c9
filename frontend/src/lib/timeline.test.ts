import { expect, it } from "vitest";
import { aRun } from "@/test/factories";
import {
  closeSections,
  densityOf,
  groupLanes,
  jobLanes,
  type Lane,
  orderLanes,
  paceOf,
  sectionLanes,
} from "./timeline";

const noon = Date.parse("2026-03-01T12:00:00Z");
const at = (minutes: number) => new Date(noon + minutes * 60_000).toISOString();
const run = (job: string, minutes: number, seconds = 1, status: "succeeded" | "failed" = "succeeded") =>
  aRun({
    run_id: `${job} ${minutes}`,
    job,
    status,
    fire_time: at(minutes),
    started_at: at(minutes),
    finished_at: new Date(noon + minutes * 60_000 + seconds * 1000).toISOString(),
  });
const names = (lanes: Lane[]) => lanes.map((l) => `${l.group}/${l.name}`);

const lanes = () =>
  jobLanes(
    [run("ops/a", -5), run("ops/b", -10, 600), run("ops/b", -20, 600, "failed"), run("billing/z", -60)],
    [
      { job: "ops/a", offset: "0s", fires: [at(30), at(35)] },
      { job: "ops/c", offset: "0s", fires: [at(1)] },
    ],
  );

it("sorts the lanes of each group by name, by the next fire, and by how busy they were", () => {
  expect(names(orderLanes(lanes(), "name", noon))).toEqual(["billing/z", "ops/a", "ops/b", "ops/c"]);
  expect(names(orderLanes(lanes(), "next", noon))).toEqual(["billing/z", "ops/c", "ops/a", "ops/b"]);
  expect(names(orderLanes(lanes(), "busy", noon))).toEqual(["billing/z", "ops/b", "ops/a", "ops/c"]);
});

it("tells how far apart a lane's fires usually are, of the past and ahead", () => {
  const [z, a] = lanes();
  expect(a && paceOf(a)).toBe(35 * 60_000); // 35, then 5
  expect(z && paceOf(z)).toBeUndefined();
});

it("shows a group that is closed as one lane, with all that its lanes have", () => {
  const closed = closeSections(lanes(), ["ops"], "all");
  expect(names(closed)).toEqual(["billing/z", "ops/all"]);
  expect(closed[1]?.runs).toHaveLength(3);
  expect(closed[1]?.fires).toEqual([at(1), at(30), at(35)]);
});

it("shows each group on a lane of its own, with all that its jobs have", () => {
  const all = groupLanes(lanes());
  expect(all.map((l) => [l.section, l.name, l.runs.length, l.fires])).toEqual([
    ["", "billing", 1, []],
    ["", "ops", 3, [at(1), at(30), at(35)]],
  ]);
  expect(orderLanes(all, "next", noon).map((l) => l.name)).toEqual(["ops", "billing"]);
  expect(lanes()[1]?.runs).toHaveLength(1); // those of the jobs are as they were
});

it("shows jobs below each of their owners or tags, and those without one last", () => {
  const tags = new Map([
    ["ops/a", ["nightly", "money"]],
    ["ops/c", ["money"]],
    ["billing/z", ["zoo"]],
  ]);
  const all = sectionLanes(lanes(), (job) => tags.get(job));
  const shown = (of: Lane[]) => of.map((l) => `${l.section}: ${l.name}`);
  expect(shown(all)).toEqual(["money: a", "money: c", "nightly: a", "zoo: z", "none: b"]);
  expect(new Set(all.map((l) => l.key)).size).toBe(5);
  expect(shown(orderLanes(all, "next", noon))).toEqual([
    "money: c",
    "money: a",
    "nightly: a",
    "zoo: z",
    "none: b",
  ]);
  const closed = closeSections(all, ["money"], "all");
  expect(shown(closed)).toEqual(["money: all", "nightly: a", "zoo: z", "none: b"]);
  expect(closed[0]?.fires).toEqual([at(1), at(30), at(35)]);
});

it("counts what began, what failed and what will fire in each part of a range", () => {
  const all = densityOf(lanes(), noon - 30 * 60_000, noon + 30 * 60_000, noon, 6);
  expect(all.map((d) => d.runs)).toEqual([0, 1, 2, 0, 0, 0]);
  expect(all.map((d) => d.failed)).toEqual([0, 1, 0, 0, 0, 0]);
  expect(all.map((d) => d.fires)).toEqual([0, 0, 0, 1, 0, 0]);
});
