import { expect, it } from "vitest";
import file from "../../../logstore/testdata/terms.json";
import { pieces, termsOf } from "./searchwords";

interface Case {
  query: string;
  text: string;
  /** Null where the line is no hit, which the server sees to. */
  found: string[] | null;
}

const marked = (text: string, query: string) =>
  pieces(text, termsOf(query))
    .filter((p) => p.found)
    .map((p) => p.text);

it("marks what the server finds", () => {
  const cases: Case[] = file;
  expect(cases.length).toBeGreaterThan(15);
  for (const { query, text, found } of cases) {
    if (found) expect(marked(text, query), `${query} in ${text}`).toEqual(found);
  }
});

it("marks words in any case, and not parts of others", () => {
  expect(marked("Read timeout, TIMEOUT", "timeout Timeout")).toEqual(["timeout", "TIMEOUT"]);
  expect(marked("timeouts time", "time")).toEqual(["time"]);
  expect(marked("İstanbul", "*stan*")).toEqual(["stan"]);
  expect(pieces("nothing", termsOf("x"))).toEqual([{ text: "nothing", found: false }]);
  expect(pieces("", termsOf("x"))).toEqual([]);
});
