import { expect, it } from "vitest";
import type { LogHit } from "@/api/schema.gen";
import { write } from "./exporting";

const line = (text: string): LogHit => ({
  run_id: "01JX",
  job: "billing/report",
  attempt: 1,
  seq: 7,
  at: "2026-11-23T00:00:00Z",
  level: "warn",
  output: "stderr",
  text,
});

it("quotes what a spreadsheet would part, and keeps it from taking a line for a formula", () => {
  expect(
    write([line('a "b", c'), line("=1+1"), line("\u001b[31mred\u001b[0m")], "csv").split("\r\n"),
  ).toEqual([
    "at,job,run_id,step,workflow_run_id,attempt,broadcast_index,seq,level,output,text",
    '2026-11-23T00:00:00Z,billing/report,01JX,,,1,,7,warn,stderr,"a ""b"", c"',
    "2026-11-23T00:00:00Z,billing/report,01JX,,,1,,7,warn,stderr,'=1+1",
    "2026-11-23T00:00:00Z,billing/report,01JX,,,1,,7,warn,stderr,red",
    "",
  ]);
});

it("keeps all that is known of a line, or what one would read", () => {
  const colour = line("\u001b[31mred\u001b[0m");
  expect(write([colour], "ndjson")).toBe(`${JSON.stringify(colour)}\n`);
  expect(write([colour, line("x")], "txt")).toBe(
    "2026-11-23T00:00:00Z warn  billing/report red\n2026-11-23T00:00:00Z warn  billing/report x\n",
  );
  const ofStep = { ...line("x"), step: "load", workflow_run_id: "01JW" };
  expect(write([ofStep], "txt")).toBe("2026-11-23T00:00:00Z warn  billing/report load: x\n");
  expect(write([ofStep], "csv")).toContain(",01JX,load,01JW,1,");
});
