import { expect, it } from "vitest";
import { forgetSnoozed, snooze } from "./snooze";

const stored = () => JSON.parse(localStorage.getItem("carillon.snoozed") ?? "{}");

it("what is snoozed is forgotten when its time has passed, or when it is over", () => {
  snooze("until ten", 10);
  snooze("until twenty", 20);
  snooze("while it lasts", "over");
  snooze("shown again", "over");
  snooze("shown again", undefined);
  forgetSnoozed(10, new Set(["until ten", "while it lasts"]));
  expect(stored()).toEqual({ "until twenty": 20, "while it lasts": "over" });
  forgetSnoozed(15, new Set());
  expect(stored()).toEqual({ "until twenty": 20 });
});
