import { expect, it } from "vitest";
import { nameOfField } from "./fieldname";

it("a field has the name that people use, or that of what it is a part of", () => {
  const names = { "schedule.cron": "Cron expression", retry: "Retries", children: "Runs after" };
  expect(nameOfField("schedule.cron", names)).toBe("Cron expression");
  expect(nameOfField("retry.limit", names)).toBe("Retries · limit");
  expect(nameOfField("children[1].on", names)).toBe("Runs after · [1].on");
  expect(nameOfField("schedule.zone", names)).toBeUndefined();
  expect(nameOfField("retrying", names)).toBeUndefined();
});
