import { describe, expect, it } from "vitest";
import { aRun, at } from "@/test/factories";
import { fireBars, runBars, stackBars } from "./lanes";

/** A pixel a second from noon. */
const x = (ms: number) => (ms - Date.parse(at(0))) / 1000;
const run = (from: number, to: number, change = {}) =>
  aRun({ run_id: `${from}`, fire_time: at(from), started_at: at(from), finished_at: at(to), ...change });

describe("a lane", () => {
  it("keeps apart what can be told apart", () => {
    const bars = runBars([run(100, 130), run(0, 20)], 0, x);
    expect(bars.map((b) => [b.x, b.width, b.n])).toEqual([
      [0, 20, 1],
      [100, 30, 1],
    ]);
  });

  it("makes one bar of many narrow ones, which opens the failure in it", () => {
    const [bar, ...rest] = runBars([run(0, 1), run(2, 3, { status: "failed" }), run(4, 5)], 0, x);
    expect(rest).toEqual([]);
    expect(bar).toMatchObject({ x: 0, width: 8, n: 3, bad: true });
    expect(bar?.run?.status).toBe("failed");
  });

  it("draws a run in flight up to now", () => {
    const [bar] = runBars([run(10, 0, { finished_at: undefined, status: "running" })], Date.parse(at(60)), x);
    expect(bar).toMatchObject({ x: 10, width: 50 });
  });

  it("draws planned fires as long as a run usually takes", () => {
    expect(fireBars([at(10), at(60)], 20_000, x, () => false).map((b) => [b.x, b.width])).toEqual([
      [10, 20],
      [60, 20],
    ]);
    expect(fireBars([at(10), at(12)], 20_000, x, () => false)).toMatchObject([{ x: 10, width: 22, n: 2 }]);
    const paused = (fire: string) => fire < at(12);
    expect(fireBars([at(10), at(11), at(12)], 20_000, x, paused)).toMatchObject([
      { x: 10, n: 2, off: true },
      { x: 12, n: 1, off: false },
    ]);
  });

  it("stacks runs that overlap, each on the topmost level that is free", () => {
    const bars = runBars([run(0, 100), run(20, 60), run(30, 200), run(70, 90), run(110, 130)], 0, x);
    expect(stackBars(bars)).toBe(3);
    expect(bars.map((b) => [b.x, b.level])).toEqual([
      [0, 0],
      [20, 1],
      [30, 2],
      [70, 1],
      [110, 0],
    ]);
  });

  it("has one level when nothing overlaps, and four at most", () => {
    expect(stackBars([])).toBe(1);
    expect(stackBars(runBars([run(0, 20), run(20, 40)], 0, x))).toBe(1);
    const many = runBars(
      Array.from({ length: 9 }, (_, i) => run(i * 10, 500)),
      0,
      x,
    );
    expect(stackBars(many)).toBe(4);
    expect(many.map((b) => b.level)).toEqual([0, 1, 2, 3, 3, 3, 3, 3, 3]);
  });
});
