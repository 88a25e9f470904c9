import { expect, it } from "vitest";
import { remedyOf } from "./remedy";

it("a reason leads to what helps against it, if there is something", () => {
  expect(remedyOf({ text: "", code: "group_empty" })).toEqual({ of: "executors" });
  expect(remedyOf({ text: "", code: "waits_for_runs" })).toEqual({ of: "runs" });
  expect(remedyOf({ text: "", code: "failures_in_a_row", params: { run_id: "r" } })).toEqual({
    of: "run",
    runId: "r",
  });
  expect(remedyOf({ text: "", code: "next_attempt" })).toBeUndefined();
  expect(remedyOf({ text: "of a handler" })).toBeUndefined();
  expect(remedyOf({ text: "", code: "misfire", and: { text: "", code: "waits_for_limit" } })).toEqual({
    of: "executors",
  });
});
