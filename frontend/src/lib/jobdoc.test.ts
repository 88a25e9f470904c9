import { expect, it } from "vitest";
import { fromYaml, lineOfField, misshapen, rewriteYaml } from "./jobdoc";

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
  expect(misshapen("a/b")).toEqual({ field: "", wants: "record" });
  expect(misshapen({ job: "a/b" })).toEqual({ field: "task", wants: "there" });
  expect(misshapen({ job: "a/b", task: {}, children: "c/d" })).toEqual({ field: "children", wants: "list" });
  expect(misshapen({ job: "a/b", task: { command: "ls" } })).toEqual({
    field: "task.command",
    wants: "list",
  });
  expect(misshapen({ job: 3, task: {} })).toEqual({ field: "job", wants: "text" });
});
