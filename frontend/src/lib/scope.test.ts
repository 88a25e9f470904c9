import { expect, test } from "vitest";
import { choicesOfScope, conditionsOfScope, isScoped, readScope } from "./scope";

test("an address with a scope overrules the one that was chosen last, as a whole", () => {
  expect(readScope({ owner: "ann" }, { tag: "money" })).toEqual({ owner: "ann" });
  expect(readScope({}, { tag: "money" })).toEqual({ tag: "money" });
});

test("a scope is filters and conditions of jobs, and none where it is empty", () => {
  expect(choicesOfScope({ group: "g", owner: undefined, tag: "t" })).toEqual({ group: ["g"], tag: ["t"] });
  expect(conditionsOfScope({ owner: "ann" })).toEqual(["owner:ann"]);
  expect(conditionsOfScope({ owner: undefined })).toBeUndefined();
  expect(isScoped({})).toBe(false);
});
