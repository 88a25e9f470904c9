import { describe, expect, it } from "vitest";
import { copyOf, Exact, numberOf, readAnswer, readJson, writeJson } from "./exact";

const numbers = [
  "1234567890123456789",
  "9007199254740993",
  "1e400",
  "0.1000",
  "-0",
  "1.0",
  "1E5",
  "-7",
  "0",
  "12.5",
];

describe("JSON without loss", () => {
  it("writes each number as it was read", () => {
    for (const n of numbers) {
      const text = `{"a":[${n},{"b":${n}}],"c":${n},"d":"${n}"}`;
      expect(writeJson(readJson(text))).toBe(text);
      expect(writeJson(copyOf(readJson(text)))).toBe(text);
      expect(writeJson(readJson(n))).toBe(n);
    }
    expect(writeJson(readJson('{"a": 1234567890123456789}'), 2)).toBe('{\n  "a": 1234567890123456789\n}');
  });

  it("has plain numbers where those are exact", () => {
    expect(readJson('[1,-2.5,"x",null,true]')).toEqual([1, -2.5, "x", null, true]);
    expect(numberOf("9007199254740993")).toBeInstanceOf(Exact);
    expect(numberOf("12")).toBe(12);
  });

  it("takes no text for a number", () => {
    for (const text of ["\u0000x", '"', "\\", "1e400", "\u0000"]) {
      const json = JSON.stringify({ text, n: 1 }).replace("1}", "1.0}");
      expect(writeJson(readJson(json))).toBe(json);
    }
  });

  it("tells values apart by each digit", () => {
    expect(JSON.stringify(readJson("1234567890123456789"))).not.toBe(
      JSON.stringify(readJson("1234567890123456788")),
    );
  });

  it("refuses what is no JSON", () => {
    for (const text of [
      "",
      "{",
      "01",
      "1.",
      "-",
      "1e",
      "[1234567890123456789x]",
      "1234567890123456789-1",
      "00000000000000000001",
    ])
      expect(() => readJson(text), text).toThrow(SyntaxError);
  });

  it("keeps the numbers of users, and has plain ones elsewhere", () => {
    const text =
      '{"revision":-0,"definition":{"params":{"id":9007199254740993}},"changes":[{"from":1.0,"to":2}]}';
    const read = readAnswer(text) as { revision: unknown };
    expect(typeof read.revision).toBe("number");
    expect(writeJson(read)).toBe(text.replace("-0", "0"));
  });
});
