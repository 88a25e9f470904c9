import { expect, it } from "vitest";
import { diffSteps } from "./diff";

it("tells which steps and edges a version has added, removed and changed", () => {
  const task = (handler: string) => ({ handler });
  const before = {
    steps: [
      { step: "load", task: task("load") },
      { step: "clean", after: ["load"], task: task("clean") },
      { step: "old", after: ["load"], task: task("old") },
      { step: "book", after: ["clean"], task: task("book") },
    ],
  };
  const after = {
    steps: [
      { step: "load", task: task("load2") },
      { step: "clean", after: ["load"], task: task("clean") },
      { step: "tell", after: [{ step: "clean", on: "failure" as const }], task: task("tell") },
      { step: "book", after: [{ step: "clean", on: "end" as const }], task: task("book") },
    ],
  };
  const { steps, added, removed } = diffSteps(before, after);
  expect(steps.map((s) => [s.step, s.change])).toEqual([
    ["load", "changed"],
    ["clean", undefined],
    ["tell", "added"],
    ["book", "changed"],
    ["old", "removed"],
  ]);
  expect(added).toEqual([
    { step: "clean", on: "failure", to: "tell" },
    { step: "clean", on: "end", to: "book" },
  ]);
  expect(removed).toEqual([
    { step: "load", on: "success", to: "old" },
    { step: "clean", on: "success", to: "book" },
  ]);
});
