import { createElement } from "react";
import { expect, it } from "vitest";
import { loadMessages, loadPages, MessagesContext } from "@/i18n";
import * as english from "@/i18n/en/sentences.gen";
import * as chinese from "@/i18n/zh/sentences.gen";
import { render } from "@/test/render";
import { fill, messageOf, type Told, useSentence } from "./sentence";

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

it("says a reason in a sentence, and in a message of a run, in the reader's language", async () => {
  await loadPages("zh");
  const zh = await loadMessages("zh");
  const said = (told: Told) => {
    const Said = () => useSentence()(told);
    const { host, remove } = render(createElement(MessagesContext, { value: zh }, createElement(Said)));
    const text = host.textContent;
    remove();
    return text;
  };
  const reason = {
    text: "overlap limit reached: 2 runs are still alive",
    code: "overlap_full",
    params: { runs: "2" },
  };
  const chinese = "仍有 2 次运行未结束，已达并发上限（阻塞处理策略）";
  const params = { reason: reason.text };
  expect(said({ code: "message_refused", params, reason })).toBe(`一条消息被拒绝：${chinese}`);
  expect(said(messageOf({ message: reason.text, message_reason: reason }))).toBe(chinese);
  expect(
    said({ code: "message_refused", params: { reason: "disk full" }, reason: { text: "disk full" } }),
  ).toBe("一条消息被拒绝：disk full");
  expect(said({ code: "of_a_newer_server", params, reason, text: "new words" })).toBe("new words");
});
