import { expect, it } from "vitest";
import { isLike } from "./fuzzy";

it("a text is found by letters of it, in their order", () => {
  for (const [text, letters] of [
    ["Load map", "lmap"],
    ["Load map", "load map"],
    ["Settings", ""],
    ["总览", "览"],
  ] as const)
    expect(isLike(text, letters)).toBe(true);
  expect(isLike("Load map", "pam")).toBe(false);
  expect(isLike("Runs", "runsx")).toBe(false);
});
