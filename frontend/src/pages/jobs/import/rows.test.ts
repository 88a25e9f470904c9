import { expect, it, vi } from "vitest";
import { check, type Source } from "./rows";

const notes: Record<string, string> = {
  "ops/report": "crontab console:crontab.txt",
  "ops/gone": "crontab console:crontab.txt",
  "ops/other-file": "crontab console:other.txt",
  "ops/by-hand": "",
  "billing/sync": "XXL-JOB 1",
  "billing/old-sync": "XXL-JOB 2",
  "billing/old-workflow": "XXL-JOB 2 workflow",
  "billing/edited": "XXL-JOB 3, edited",
  "crm/elsewhere": "XXL-JOB 4",
};

vi.mock("@/api/importing", () => ({
  applyJob: () =>
    Promise.resolve({
      result: "unchanged",
      changes: [],
      warnings: ["ops/report", "ops/typo"].map((job) => ({
        field: "children",
        reason: { code: "child_unknown", text: `names ${job}`, params: { job } },
      })),
    }),
  noteOf: (name: string) => Promise.resolve(notes[name] ?? ""),
  jobsNoted: (group: string, passes: (note: string) => boolean) =>
    Promise.resolve(
      Object.keys(notes).filter((name) => name.startsWith(`${group}/`) && passes(notes[name] ?? "")),
    ),
  readCrontab: () =>
    Promise.resolve({
      items: [{ line: 1, outcome: "imported", text: "", note: "", job: { job: "ops/report" } }],
    }),
  readXXLJob: () =>
    Promise.resolve({
      items: [
        { id: 1, origin: "XXL-JOB 1", outcome: "imported", note: "", job: { job: "billing/sync" } },
        {
          id: 5,
          origin: "XXL-JOB 5",
          outcome: "imported",
          note: "",
          job: { job: "billing/daily", schedule: { fixed_rate: "1d" } },
        },
        { id: 6, origin: "XXL-JOB 6", outcome: "imported", note: "", job: { job: "billing/called" } },
        {
          id: 6,
          origin: "XXL-JOB 6 workflow",
          outcome: "imported",
          note: "",
          job: { job: "billing/flow", steps: [{ step: "called", call: "billing/called" }] },
        },
      ],
    }),
}));

const words = { say: (text: unknown) => String(text), sayError: String };

it("jobs of an earlier import that the file makes no more are listed", async () => {
  const left = async (source: Partial<Source>) => {
    const rows = await check(
      { kind: "crontab", text: "", group: "ops", zone: "UTC", ...source },
      "",
      "",
      words as never,
    );
    return rows.filter((r) => r.outcome === "leftover").map((r) => r.name);
  };
  expect(await left({ file: "crontab.txt" })).toEqual(["ops/gone"]);
  expect(await left({ file: "new.txt" })).toEqual([]);
  expect(await left({})).toEqual([]);
  expect(await left({ kind: "xxl-job" })).toEqual(["billing/old-sync", "billing/old-workflow"]);
});

it("jobs are looked at and saved as paused if that is asked for", async () => {
  const docs = async (paused: boolean, kind: Source["kind"] = "crontab") => {
    const source = { kind, text: "", group: "ops", zone: "UTC", paused };
    const rows = await check(source, "", "", words as never);
    return rows.flatMap((r) => (r.manifest?.kind === "job" ? [r.manifest.doc] : []));
  };
  expect(await docs(true)).toEqual([{ job: "ops/report", paused: true }]);
  expect(await docs(false)).toEqual([{ job: "ops/report" }]);
  expect(await docs(true, "xxl-job")).toEqual([
    { job: "billing/sync" },
    { job: "billing/daily", schedule: { fixed_rate: "1d" }, paused: true },
    { job: "billing/called", paused: false },
    { job: "billing/flow", steps: [{ step: "called", call: "billing/called" }] },
  ]);
});

it("a child that is among the imported jobs is not said to be unknown", async () => {
  const said = { ...words, say: (reason: { text: string }) => reason.text };
  const source = { kind: "crontab", text: "", group: "ops", zone: "UTC" } as const;
  const rows = await check(source, "", "", said as never);
  expect(rows.map((r) => r.note)).toEqual(["children: names ops/typo"]);
});
