import { expect, test } from "vitest";
import type { Group, Instance } from "@/api/schema.gen";
import { movesOf } from "./moves";

const instance = (state: Instance["state"], sdk: string) => ({ state, sdk, version: "3.3" }) as Instance;
const group = (name: string, instances: Instance[], paused = false) =>
  ({ executor_group: name, instances, pause: paused ? { paused } : undefined }) as Group;

const facet = (value: string, count: number) => ({ value, count });

test("a group has moved once an executor is attached and jobs fire", () => {
  const groups = [
    group("done", [instance("online", "xxl-job/B"), instance("online", "xxl-job/B")]),
    group("partly", [instance("online", "xxl-job/A")]),
    group("waits", [instance("draining", "xxl-job/C")]),
    group("held", [instance("online", "xxl-job/B")], true),
    group("gone", [instance("lost", "xxl-job/B")]),
  ];
  const imported = ["done", "partly", "waits", "held", "gone", "unknown"].map((name) => facet(name, 3));
  const moves = movesOf(imported, [facet("partly", 1), facet("waits", 3)], groups, false);
  expect(moves.map((m) => [m.group, m.paused, m.stage])).toEqual([
    ["gone", 0, "away"],
    ["unknown", 0, "away"],
    ["held", 3, "attached"],
    ["waits", 3, "attached"],
    ["done", 0, "moved"],
    ["partly", 1, "moved"],
  ]);
  expect(moves.at(-2)?.attached).toEqual(["xxl-job/B 3.3"]);
});

test("while everything is paused no group has moved", () => {
  const groups = [group("done", [instance("online", "xxl-job/B")])];
  expect(movesOf([facet("done", 2)], [], groups, true)).toMatchObject([{ paused: 2, stage: "attached" }]);
});
