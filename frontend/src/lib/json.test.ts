import { expect, it } from "vitest";
import { indented } from "./json";

it("sets a document in lines, with numbers and strings as they were written", () => {
  expect(
    indented(' {"id":12345678901234567890,"a":[1.50,{"b":null}],"none":{},"s":"x, {\\"y\\": 1}"} '),
  ).toEqual([
    "{",
    '  "id": 12345678901234567890,',
    '  "a": [',
    "    1.50,",
    "    {",
    '      "b": null',
    "    }",
    "  ],",
    '  "none": {},',
    '  "s": "x, {\\"y\\": 1}"',
    "}",
  ]);
  expect(indented("[]")).toEqual(["[]"]);
});

it("takes nothing for a document that is none", () => {
  for (const text of ["", "batch 3 of 4", "{not json}", "[INFO] ready [ok]", '"text"', "42"])
    expect(indented(text)).toBeUndefined();
});
