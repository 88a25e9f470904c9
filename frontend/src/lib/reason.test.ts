import { describe, expect, it } from "vitest";
import type { Reason, Run } from "@/api/schema.gen";
import { loadPages } from "@/i18n";
import { en } from "@/i18n/en";
import { findings } from "@/i18n/en/findings.gen";
import { reasons } from "@/i18n/en/reasons.gen";
import { refusals } from "@/i18n/en/refusals.gen";
import { zh } from "@/i18n/zh";
import { findings as zhFindings, refusals as zhRefusals } from "@/i18n/zh/refusals";
import { makeFormat } from "./format";
import { resultOf, say } from "./reason";

await loadPages("zh");

const inChinese = (r: Reason) => say(r, zh, makeFormat("zh", "Asia/Shanghai"));
const inEnglish = (r: Reason) => say(r, en, makeFormat("en", "UTC"));

/** The parameters of a sentence with their kinds, in order of their names. */
const slots = (template: string) =>
  [...template.matchAll(/\{([a-z_]+)(?::([a-z]+)|\|[^}]*)\}/g)]
    .map(([, name, kind = "number"]) => `${name}:${kind}`)
    .sort();

/** A value of each kind. */
const samples: Record<string, string> = {
  number: "2",
  duration: "1m30s",
  instant: "2026-03-01T02:00:00Z",
  word: "x1",
  status: "timed_out",
  state: "failed",
  phrase: "x2",
  weekday: "Saturday",
  month: "March",
  free: "x3",
};

describe("each reason", () => {
  for (const [code, template] of Object.entries({ ...reasons, ...findings, ...refusals })) {
    const params = Object.fromEntries(
      slots(template)
        .map((s) => s.split(":"))
        .map(([name = "", kind = ""]) => [name, samples[kind] ?? ""]),
    );
    const reason: Reason = { text: "in English", code, params };
    it(`${code} has its parameters in both languages`, () => {
      const chinese: Record<string, string> = { ...zh.reasons, ...zhFindings, ...zhRefusals };
      expect(slots(chinese[code] ?? "")).toEqual(slots(template));
      expect(inEnglish(reason)).not.toMatch(/[{}]/);
      expect(inChinese(reason)).toMatch(/[\u4e00-\u9fff]/);
      expect(inChinese(reason)).not.toMatch(sentence);
    });
  }
});

/** Three English words in a row. */
const sentence = /[a-z]{2,} [a-z]{2,} [a-z]{2,}/i;

const run = (status: Run["status"], more: Partial<Run>): Run => ({
  run_id: "019ca945-0a00-7740-b3ff-812ebe717fa0",
  job: "billing/nightly",
  version: 1,
  attempt: 1,
  cause: "schedule",
  fire_time: "2026-03-01T02:00:00Z",
  count: 1,
  status,
  ...more,
});

it("a Chinese page has no English sentence for runs that did not go as planned", () => {
  const runs = [
    run("skipped", {
      reason: {
        text: "overlap limit reached: 2 runs are still alive",
        code: "overlap_full",
        params: { runs: "2" },
      },
    }),
    run("missed", {
      reason: {
        text: "noticed too late; the misfire policy is skip",
        code: "noticed_too_late",
        and: { text: "the misfire policy is skip", code: "misfire_skip" },
      },
    }),
    run("lost", {
      reason: { text: "its trigger has left the stream, and no end of it was reported", code: "orphaned" },
    }),
    run("queued", {
      reason: {
        text: "attempt 1 timed out; the next is due 10s later",
        code: "next_attempt",
        params: { attempt: "1", status: "timed_out", wait: "10s" },
      },
    }),
    run("pending", {
      reason: { text: "group billing has no executor", code: "group_empty", params: { group: "billing" } },
    }),
  ];
  expect(runs.map((r) => resultOf(r, (reason) => (reason ? inChinese(reason) : "")))).toEqual([
    "仍有 2 次运行未结束，已达并发上限（阻塞处理策略）",
    "发现过晚；过期策略为 skip",
    "其触发消息已不在消息流中，也没有收到结束事件",
    "第 1 次尝试超时，10 s 后重试",
    "分组 billing 没有执行器",
  ]);
});

it("what has no known code stays as it was written", () => {
  expect(inChinese({ text: "disk full" })).toBe("disk full");
  expect(inChinese({ text: "new words", code: "of_a_newer_server" })).toBe("new words");
  const both = {
    text: "took longer than its timeout of 5s; disk full",
    code: "timed_out",
    params: { timeout: "5s" },
    and: { text: "disk full" },
  };
  expect(inChinese(both)).toBe("超过了 5.0 s 的超时限制；disk full");
});
