import { describe, expect, it } from "vitest";
import type { JobVersion } from "@/api/schema.gen";
import { readAnswer, readJson, writeJson } from "./exact";
import { definitionOf, editedFrom, fromYaml, lineOfField, misshapen, rewriteYaml, toYaml } from "./jobdoc";
import { meetings, mergeInto } from "./merge";

const text = `# Who asks: the controllers
job: billing/close
schedule:
  cron: "0 2 * * *" # after the banks
  zone: Asia/Shanghai
task:
  shell: |
    echo one
    echo two
children:
  - job: billing/report
  - job: billing/mail # last
`;

it("a version is saved again without what the system knows of it", () => {
  const job = { job: "billing/close", task: { shell: "true" }, params: { format: "csv" } };
  const system = {
    version: 3,
    effective_from: "2026-01-05T01:00:00Z",
    author: "ann",
    note: "n",
    deleted: false,
  };
  expect(definitionOf({ ...job, ...system, skips: [], format: 1 } as JobVersion)).toEqual(job);
});

it("a changed document leaves the comments and the look of its YAML as they are", async () => {
  const document = await fromYaml(text);
  expect(await rewriteYaml(text, document)).toBe(text);
  const next = {
    job: "billing/close",
    schedule: { cron: "30 2 * * *" },
    task: { shell: "echo one\necho three\n" },
    children: [{ job: "billing/report" }, { job: "billing/mail" }],
    timeout: "5m",
  };
  expect(await rewriteYaml(text, next)).toBe(`# Who asks: the controllers
job: billing/close
schedule:
  cron: "30 2 * * *" # after the banks
task:
  shell: |
    echo one
    echo three
children:
  - job: billing/report
  - job: billing/mail # last
timeout: 5m
`);
});

it("what is no YAML, or was nothing, is written anew", async () => {
  for (const broken of ["", "job: [", "just words"]) {
    expect(await rewriteYaml(broken, { job: "a/b" })).toBe("job: a/b\n");
  }
});

it("finds the line of a field, or of what it belongs to", async () => {
  expect(await lineOfField(text, "schedule.cron")).toBe(4);
  expect(await lineOfField(text, "children[1].job")).toBe(12);
  expect(await lineOfField(text, "children[7].job")).toBe(11);
  expect(await lineOfField(text, "retry.limit")).toBe(1);
});

it("says which field keeps a document from being a job", () => {
  expect(misshapen({ job: "a/b", task: { shell: "true" } })).toBeUndefined();
  expect(misshapen({ job: "a/b", steps: [{ step: "a", task: {} }] })).toBeUndefined();
  expect(misshapen({ job: "a/b", steps: ["a"] })).toEqual({ field: "steps[0]", wants: "record" });
  expect(misshapen({ job: "a/b", steps: [{ step: "a", task: {} }, { step: "b" }] })).toEqual({
    field: "steps[1].task",
    wants: "there",
  });
  expect(misshapen({ job: "a/b", steps: [{ step: "a", call: "c/d" }] })).toBeUndefined();
  expect(misshapen({ job: "a/b", steps: [{ step: "a", call: {} }] })).toEqual({
    field: "steps[0].call",
    wants: "text",
  });
  expect(misshapen({ job: "a/b", steps: [{ step: "a", wait: { for: "1m" } }] })).toBeUndefined();
  expect(misshapen({ job: "a/b", steps: [{ step: "a", wait: "1m" }] })).toEqual({
    field: "steps[0].wait",
    wants: "record",
  });
  const waits = (wait: unknown) => misshapen({ job: "a/b", steps: [{ step: "a", wait }] });
  expect(waits({ approval: { by: ["role:operator"] }, expires: "8h" })).toBeUndefined();
  expect(waits({ approval: { by: "role:operator" } })?.field).toBe("steps[0].wait.approval.by");
  expect(waits({ for: 10 })).toEqual({ field: "steps[0].wait.for", wants: "text" });
  expect(misshapen({ job: "a/b", steps: {} })).toEqual({ field: "steps", wants: "list" });
  expect(misshapen("a/b")).toEqual({ field: "", wants: "record" });
  expect(misshapen({ job: "a/b" })).toEqual({ field: "task", wants: "there" });
  expect(misshapen({ job: "a/b", task: {}, children: "c/d" })).toEqual({ field: "children", wants: "list" });
  expect(misshapen({ job: "a/b", task: { command: "ls" } })).toEqual({
    field: "task.command",
    wants: "list",
  });
  expect(misshapen({ job: 3, task: {} })).toEqual({ field: "job", wants: "text" });
});

describe("numbers that a JavaScript number would change", () => {
  const json =
    '{"job":"a/b","task":{"handler":"h"},"params":{"big":1234567890123456789,"odd":9007199254740993,"huge":1e400,"decimals":0.1000,"zero":-0,"in":[{"x":-9007199254740993}]},"target":{"success_rate":99.5}}';

  it("stay as they were written, through YAML and back", async () => {
    const text = await toYaml(readJson(json));
    expect(text).toContain("big: 1234567890123456789\n");
    expect(text).toContain("decimals: 0.1000\n");
    expect(writeJson(await fromYaml(text))).toBe(json);
  });

  it("stay when another field changes, and change with each digit", async () => {
    const text = await toYaml(readJson(json));
    const next = readAnswer(json.replace("456789,", "456788,").replace("0.1000", "0.10"));
    expect(await rewriteYaml(text, next)).toBe(
      text.replace("456789\n", "456788\n").replace("0.1000", "0.10"),
    );
    expect(await rewriteYaml(text, readAnswer(json))).toBe(text);
  });

  it("are plain numbers outside of what users wrote", async () => {
    expect(await fromYaml("target: {success_rate: 99.0}")).toEqual({ target: { success_rate: 99 } });
  });

  it("are merged whole", () => {
    const [was, mine, theirs] = [json, json.replace("456789,", "456788,"), json].map(readAnswer) as object[];
    const found = meetings(was, mine, theirs);
    expect(found.map((m) => m.field)).toEqual(["params.big"]);
    expect(writeJson(mergeInto(theirs as object, found))).toBe(writeJson(mine));
  });
});

it("a pause that somebody removes from a document ends, and one that was not there stays", () => {
  const job = { job: "a/b", task: { shell: "true" } };
  expect(editedFrom({ ...job, paused: true }, job)).toEqual({ ...job, paused: false });
  expect(editedFrom({ ...job, paused_until: "2027-01-01T00:00:00Z" }, job)).toEqual({
    ...job,
    paused: false,
  });
  expect(editedFrom({ ...job, paused: true }, { ...job, paused: true })).toEqual({ ...job, paused: true });
  expect(editedFrom(job, job)).toEqual(job);
});
