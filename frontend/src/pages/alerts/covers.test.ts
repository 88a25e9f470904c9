import { expect, it } from "vitest";
import type { Alert } from "@/api/schema.gen";
import { covers } from "./covers";

it("a rule covers the jobs that it selects, unless it is off or about the cluster", () => {
  const job = { job: "billing/close", labels: { zone: "a", disk: "ssd" } };
  const is = (rule: Partial<Alert>) => covers({ alert: "x", ...rule }, job);
  expect(is({})).toBe(true);
  expect(is({ match: { groups: [], jobs: ["billing/close", "ops/x"] } })).toBe(true);
  expect(is({ match: { groups: ["billing"], labels: { zone: "a" } } })).toBe(true);
  expect(is({ match: { groups: ["ops"] } })).toBe(false);
  expect(is({ match: { jobs: ["billing/open"] } })).toBe(false);
  expect(is({ match: { labels: { zone: "b" } } })).toBe(false);
  expect(is({ when: { no_executor_for: "1h" }, match: { groups: ["billing"] } })).toBe(true);
  expect(is({ when: { stream_full: 80 } })).toBe(false);
  expect(is({ when: { dead_letters: true } })).toBe(false);
  expect(is({ disabled: true })).toBe(false);
});
