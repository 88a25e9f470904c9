import { expect, it } from "vitest";
import { readWords } from "./words";

it("reads jobs, and fields with their values", () => {
  expect(readWords("billing/report")).toEqual({ jobs: ["billing/report"], rest: {} });
  expect(readWords("job:billing/report status:failed cause:manual ")).toEqual({
    jobs: ["billing/report"],
    rest: { status: ["failed"], cause: ["manual"] },
  });
  expect(readWords("status:failed status:lost")).toEqual({
    jobs: undefined,
    rest: { status: ["failed", "lost"] },
  });
});

it("leaves out what is not whole or names nothing", () => {
  expect(readWords("instance:work")).toEqual({ jobs: undefined, rest: {} });
  expect(readWords("instance:worker-1 ")).toEqual({ jobs: undefined, rest: { instance: "worker-1" } });
  expect(readWords("status:fai colour:red report version:1")).toEqual({ jobs: undefined, rest: {} });
});
