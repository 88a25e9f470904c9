import { expect, it } from "vitest";
import { parseAnsi, plainText } from "./ansi";

const esc = "\u001b";

it("a plain line is one span", () => {
  expect(parseAnsi("<script>alert(1)</script>")).toEqual([{ text: "<script>alert(1)</script>", look: "" }]);
});

it("colours and weights begin and end", () => {
  expect(parseAnsi(`a${esc}[1;31mb${esc}[22mc${esc}[0md`)).toEqual([
    { text: "a", look: "" },
    { text: "b", look: "a-bold a-fg-red" },
    { text: "c", look: "a-fg-red" },
    { text: "d", look: "" },
  ]);
});

it("colours beyond sixteen leave the text as it is", () => {
  expect(parseAnsi(`${esc}[38;5;31mb${esc}[38;2;1;31;3mc${esc}[31md`)).toEqual([
    { text: "b", look: "" },
    { text: "c", look: "" },
    { text: "d", look: "a-fg-red" },
  ]);
});

it("other sequences go, and control characters are seen", () => {
  expect(parseAnsi(`${esc}[2K${esc}]0;title\u0007x\u0000y\tz`)).toEqual([{ text: "x␀y\tz", look: "" }]);
});

it("a search does not see colours", () => {
  expect(plainText(`4${esc}[31m2${esc}[0m`)).toBe("42");
});
