import { expect, it } from "vitest";
import { conditionsOf, readChoices, together, unfinishedOf, withoutUnfinished } from "./jobfilter";

it("what is written as field:value is taken out of a text once something follows it", () => {
  expect(readChoices("owner:lin pay", false)).toEqual({ rest: "pay", choices: { owner: ["lin"] } });
  expect(readChoices("pay owner:lin", false)).toEqual({ rest: "pay owner:lin", choices: {} });
  expect(readChoices("pay owner:lin", true)).toEqual({ rest: "pay ", choices: { owner: ["lin"] } });
  expect(readChoices('-tag:gdpr owner:"Lin Wei" x', false)).toEqual({
    rest: "x",
    choices: { tag: ["-gdpr"], owner: ["Lin Wei"] },
  });
  expect(readChoices("type:workflow x", false).choices).toEqual({ type: ["workflow"] });
  expect(readChoices("Fires:1h fires:24h ", false).choices).toEqual({ fires: ["24h"] });
});

it("what no field has stays text", () => {
  for (const text of ["http://x y", "state:asleep ", "fires:soon ", "-fires:1h ", "owner: x", "colour:red x"])
    expect(readChoices(text, true)).toEqual({ rest: text, choices: {} });
});

it("the value that is being written is told apart from the text before it", () => {
  expect(unfinishedOf("pay owner:li")).toEqual({ field: "owner", value: "li", not: false });
  expect(unfinishedOf("-tag:")).toEqual({ field: "tag", value: "", not: true });
  expect(unfinishedOf("pay")).toBeUndefined();
  expect(unfinishedOf("owner:lin pay")).toBeUndefined();
  expect(withoutUnfinished("pay owner:li")).toBe("pay");
});

it("choices become conditions, in which a hyphen stands before the field", () => {
  expect(conditionsOf({ tag: ["-gdpr", "money"], group: ["billing"] })).toEqual([
    "group:billing",
    "-tag:gdpr",
    "tag:money",
  ]);
  expect(together({ tag: ["a"], fires: ["1h"] }, { tag: ["a", "b"], fires: ["24h"] })).toEqual({
    tag: ["a", "b"],
    fires: ["24h"],
  });
});
