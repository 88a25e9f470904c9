import { expect, it } from "vitest";
import { lettersOf } from "./letters";

it("takes the first letters of the first two parts of a name", () => {
  const said = ["lin.wei", "This machine", "ops", "a-b-c", "陈宇", "  "].map(lettersOf);
  expect(said).toEqual(["LW", "TM", "O", "AB", "陈", ""]);
});
