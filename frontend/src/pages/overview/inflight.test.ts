import { describe, expect, it } from "vitest";
import { countsOf } from "./inflight";

const runs = (running: number, pending: number, queued = 0) => [
  ...Array.from({ length: running }, () => ({ status: "running" as const })),
  ...Array.from({ length: pending }, () => ({ status: "pending" as const })),
  ...Array.from({ length: queued }, () => ({ status: "queued" as const })),
];

describe("the runs in flight", () => {
  it("are those of the list, which is newer, while it has all", () => {
    expect(countsOf(runs(3, 4, 2), { running: 1 })).toEqual({ running: 3, waiting: 4, queued: 2 });
  });
  it("are as many as the server counts where the list is cut", () => {
    expect(countsOf(runs(20, 180), { running: 32, pending: 700, queued: 97 })).toEqual({
      running: 32,
      waiting: 700,
      queued: 97,
    });
  });
});
