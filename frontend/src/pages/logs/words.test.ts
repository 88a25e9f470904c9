import { expect, it } from "vitest";
import { readWords, withWords } from "./words";

it("takes what a search is narrowed to out of its words", () => {
  expect(readWords("level:error job:billing/report refused", false)).toEqual({
    rest: "refused",
    words: { level: ["error"], job: ["billing/report"] },
  });
  expect(readWords("LEVEL:Warning level:debug group:billing run:01JX timed out", false)).toEqual({
    rest: "timed out",
    words: { level: ["warn", "debug"], group: "billing", run: "01JX" },
  });
});

it("leaves what may not be finished, until it is", () => {
  const not = { rest: "refused job:billing/rep", words: {} };
  expect(readWords("refused job:billing/rep", false)).toEqual(not);
  expect(readWords("refused job:billing/rep", true)).toEqual({
    rest: "refused ",
    words: { job: ["billing/rep"] },
  });
});

it("leaves what names nothing, and what is quoted", () => {
  for (const text of ["level:loud x", "job:report x", "user:lin x", '"level:error" x', "xlevel:error x"])
    expect(readWords(text, true)).toEqual({ rest: text, words: {} });
});

it("adds to what is chosen, each once", () => {
  const chosen = { level: ["error" as const], group: "a" };
  expect(withWords(chosen, { level: ["warn", "error"], group: "b" })).toEqual({
    level: ["error", "warn"],
    group: "b",
    job: undefined,
  });
});
