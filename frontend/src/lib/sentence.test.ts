import { expect, it } from "vitest";
import * as english from "@/i18n/en/sentences.gen";
import * as chinese from "@/i18n/zh/sentences.gen";
import { fill } from "./sentence";

const values = { ended: chinese.ended, instant: (at: string) => `<${at}>` };

it("fills in parameters, and leaves out what is not known", () => {
  const said = (template: string, params: Record<string, string>) => fill(template, params, values);
  expect(said("{job} {status}[，另有 {others} 个]", { job: "a/b", status: "failed" })).toBe("a/b 执行失败");
  expect(said("{job}[，另有 {others} 个]", { job: "a/b", others: "2" })).toBe("a/b，另有 2 个");
  expect(said("{n|shard|shards} {s}", { n: "1", s: "3" })).toBe("shard 3");
  expect(said("{n|shard|shards} {s}", { n: "2", s: "3, 4" })).toBe("shards 3, 4");
  expect(said("至 {until}", { until: "2026-01-05T03:00:00Z" })).toBe("至 <2026-01-05T03:00:00Z>");
  expect(said("{reason}", { reason: "{group} [x]" })).toBe("{group} [x]");
  expect(said("{status}", { status: "new" })).toBe("new");
});

it("has every sentence in both languages", () => {
  expect(Object.keys(chinese.sentences)).toEqual(Object.keys(english.sentences));
  expect(Object.keys(chinese.ended)).toEqual(Object.keys(english.ended));
  for (const [code, template] of Object.entries(english.sentences)) {
    const names = [...template.matchAll(/\{(\w+)/g)].map((m) => m[1] ?? "");
    const params = Object.fromEntries(names.map((name) => [name, name === "status" ? "failed" : "x1"]));
    const inEnglish = fill(template, params, { ...values, ended: english.ended });
    const inChinese = fill(chinese.sentences[code] ?? "", params, values);
    expect(inEnglish, code).not.toMatch(/[{}[\]|]|\p{Script=Han}/u);
    expect(inChinese, code).not.toMatch(/[{}[\]|]/);
    expect(inChinese, code).toMatch(/\p{Script=Han}/u);
    // A command is no sentence.
    expect(inChinese.replace(/carillon get /, ""), code).not.toMatch(/[A-Za-z]+ [A-Za-z]+ [A-Za-z]+/);
  }
});
