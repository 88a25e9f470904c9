import { expect, it, vi } from "vitest";
import { batched } from "./batch";

it("asks together what is asked at the same moment, so much at most, and each gets its own answer", async () => {
  const ask = vi.fn((words: string[]) => Promise.resolve(words.map((w) => w.toUpperCase())));
  const upper = batched(3, ask);
  expect(await Promise.all(["a", "b", "c", "d"].map(upper))).toEqual(["A", "B", "C", "D"]);
  expect(ask.mock.calls).toEqual([[["a", "b", "c"]], [["d"]]]);
  expect(await upper("e")).toBe("E");
  expect(ask.mock.lastCall).toEqual([["e"]]);
});

it("fails for all that shared a request, and for none that comes later", async () => {
  const ask = vi.fn((n: number[]) => Promise.resolve(n)).mockRejectedValueOnce(new Error("no"));
  const same = batched(9, ask);
  expect(await Promise.allSettled([same(1), same(2)])).toMatchObject([
    { status: "rejected" },
    { status: "rejected" },
  ]);
  expect(await same(3)).toBe(3);
});

it("takes an answer that lacks some for a failure", async () => {
  const short = batched(9, (n: number[]) => Promise.resolve(n.slice(1)));
  await expect(Promise.all([short(1), short(2)])).rejects.toThrow("1 answers to 2 questions");
});
