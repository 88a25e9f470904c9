import { expect, it } from "vitest";
import { patchOf } from "./jobpatch";

it("makes a patch of the fields that were ticked", () => {
  expect(patchOf({})).toEqual({});
  expect(
    patchOf({
      timeout: " 10m ",
      "retry.limit": "3",
      "retry.delay": "",
      "schedule.zone": "Asia/Shanghai",
      "schedule.except": "holidays, freeze",
      labels: "zone=eu note=a=b",
      owner: " ",
      "target.success_rate": "99.5",
      unknown: "x",
    }),
  ).toEqual({
    timeout: "10m",
    retry: { limit: 3, delay: null },
    schedule: { zone: "Asia/Shanghai", except: ["holidays", "freeze"] },
    labels: { zone: "eu", note: "a=b" },
    owner: null,
    target: { success_rate: 99.5 },
  });
});

it("leaves it to the server to refuse what is no number", () => {
  expect(patchOf({ "retry.limit": "many" })).toEqual({ retry: { limit: "many" } });
});
