import { expect, it } from "vitest";
import type { Instance, Reason } from "@/api/schema.gen";
import { loadMessages, loadPages } from "@/i18n";
import { makeFormat } from "@/lib/format";
import { say } from "@/lib/reason";
import { refusedFor } from "./refusal";

const instance: Instance = {
  executor_group: "billing",
  instance: "a",
  state: "online",
  kinds: [],
  slots: 1,
  running: 0,
  started_at: "2026-03-01T02:00:00Z",
  at: "2026-03-01T02:00:00Z",
};
const why: Reason = {
  text: "has 70000 bytes; at most 65536 are allowed",
  code: "bytes_allowed",
  params: { bytes: "70000", most: "65536" },
};

it("says in Chinese why a message of an executor was refused", async () => {
  await loadPages("zh");
  const zh = await loadMessages("zh");
  const inChinese = (reason: Reason | undefined) => say(reason, zh, makeFormat("zh", "UTC"));
  expect(refusedFor({ ...instance, refused_for: { field: "result", why } }, inChinese)).toBe(
    "result 有 70,000 字节，最多 65,536 字节",
  );
  expect(refusedFor({ ...instance, refused_for: { why: { text: "disk full" } } }, inChinese)).toBe(
    "disk full",
  );
});
