import { expect, it } from "vitest";
import { pieces, wordsOf } from "./searchwords";

it("reads words, and phrases in quotes, each once", () => {
  expect(wordsOf('timeout "Connection refused" Timeout 10.2')).toEqual([
    "timeout",
    "connection refused",
    "10",
    "2",
  ]);
  expect(wordsOf("")).toEqual([]);
});

it("marks words in any case, the longer of two that begin together", () => {
  const marked = (text: string, words: string[]) =>
    pieces(text, words)
      .map((p) => (p.found ? `[${p.text}]` : p.text))
      .join("");
  expect(marked("Read timeout, TIMEOUT", ["timeout"])).toBe("Read [timeout], [TIMEOUT]");
  expect(marked("timeouts", ["time", "timeout"])).toBe("[timeout]s");
  expect(marked("nothing", ["x"])).toBe("nothing");
  expect(marked("İstanbul", ["stan"])).toBe("İstanbul");
});
