import { expect, test } from "vitest";
import type { Group, Instance } from "@/api/schema.gen";
import { isMoving, movesOf } from "./moves";

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

test("a move goes on until all have moved, and a pause of everything does not begin it again", () => {
  const done = group("done", [instance("online", "xxl-job/B")]);
  const held = group("held", [instance("online", "xxl-job/B")], true);
  const gone = group("gone", []);
  const isMovingWith = (groups: Group[], everything = false) => {
    const imported = groups.map((g) => facet(g.executor_group, 1));
    return isMoving(movesOf(imported, [], groups, everything), everything);
  };
  expect(isMovingWith([])).toBe(false);
  expect(isMovingWith([done])).toBe(false);
  expect(isMovingWith([done, held])).toBe(true);
  expect(isMovingWith([done, gone])).toBe(true);
  expect(isMovingWith([done, held], true)).toBe(false);
  expect(isMovingWith([done, gone], true)).toBe(true);
});
