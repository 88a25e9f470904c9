import { expect, it } from "vitest";
import { isLength, longestKept, retentionOf, rulesOf } from "./retention";

const retention = {
  default: { runs: "720h", logs: "36h" },
  groups: { billing: { logs: "2160h" } },
  jobs: { "billing/noisy": { runs: "24h", logs: "24h" } },
};

it("a retention is read as rows, in days where those are whole", () => {
  expect(rulesOf(retention).map((r) => [r.scope, r.name, r.runs, r.logs])).toEqual([
    ["default", "", "30d", "36h"],
    ["group", "billing", "", "90d"],
    ["job", "billing/noisy", "24h", "24h"],
  ]);
});

it("rows say the retention that they were read from", () => {
  expect(retentionOf(rulesOf(retention), retention)).toEqual({
    default: { runs: "2592000s", logs: "129600s" },
    groups: { billing: { logs: "7776000s" } },
    jobs: { "billing/noisy": { runs: "86400s", logs: "86400s" } },
  });
});

it("rows leave what they do not show as it is", () => {
  const facts = { audit: "8760h", alerts: "2160h" };
  expect(retentionOf(rulesOf(retention), { ...retention, facts })?.facts).toEqual(facts);
});

it("a row that is not finished says nothing yet", () => {
  const [all] = rulesOf(retention);
  if (!all) throw new Error("no rule");
  expect(retentionOf([{ ...all, runs: "" }], retention)).toBeUndefined();
  expect(retentionOf([{ ...all, runs: "30 days" }], retention)).toBeUndefined();
  expect(
    retentionOf([all, { id: 1, scope: "group", name: "", runs: "1d", logs: "" }], retention),
  ).toBeUndefined();
  expect(
    retentionOf([all, { id: 1, scope: "group", name: "billing", runs: "", logs: "" }], retention),
  ).toBeUndefined();
});

it.each([
  ["1h", true],
  ["59m", false],
  ["1825d", true],
  ["1826d", false],
])("%s is a length that may be chosen: %s", (text, may) => {
  expect(isLength(text, true)).toBe(may);
});

it("knows how long anything is kept", () => {
  const day = 24 * 3600e3;
  const rules = {
    default: { runs: "720h", logs: "168h" },
    groups: { billing: { runs: "2160h" } },
    jobs: { "ops/a": { logs: "240h" } },
  };
  expect(longestKept(rules, "runs")).toBe(90 * day);
  expect(longestKept(rules, "logs")).toBe(10 * day);
  expect(longestKept({ default: {} }, "runs")).toBe(1825 * day);
});
