import { expect, it } from "vitest";
import { readManifests } from "./manifests";

it("reads jobs and calendars of one file, each with its line", async () => {
  const read = await readManifests(`# a comment
job: a/b
task: {shell: "true"}
---
calendar: holidays
dates: [12-25]
---
# nothing but this
---
name: neither
`);
  expect(read.map((m) => [m.kind, m.name, m.line])).toEqual([
    ["job", "a/b", 2],
    ["calendar", "holidays", 5],
    ["wrong", "", 10],
  ]);
});

it("says where a document is broken, and reads the others", async () => {
  const read = await readManifests(`job: a/b
task: {shell: "true"}
---
job: "a/c
---
`);
  expect(read[0]).toMatchObject({ kind: "job", name: "a/b" });
  expect(read[1]).toMatchObject({ kind: "wrong", problem: 'Missing closing "quote' });
});

it("takes a list of documents for the documents", async () => {
  const read = await readManifests('[{"job":"a/b","task":{"shell":"x"}},{"job":"a/c","task":{"shell":"x"}}]');
  expect(read.map((m) => m.name)).toEqual(["a/b", "a/c"]);
});
