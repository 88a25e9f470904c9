import { expect, it } from "vitest";
import { timeless } from "./logdiff";

const of = (...lines: string[]) => timeless(lines.map((text) => ({ text })));

it("logs that differ in times alone are the same text", () => {
  expect(of("2026-11-26T18:05:40.123Z start", "18:05:41 took 1.8s, 40 ms later")).toBe(
    of("2026-11-27 02:15:00,5+08:00 start", "02:15:01.002 took 12.25s, 40 ms later"),
  );
  expect(of("took 1m2.5s")).toBe(of("took 1h2m3s"));
});

it("what is no time is left as it is", () => {
  const line = "dial tcp 10.2.8.14:5432: v1.8.0, batch 3 of 12, port 8080, 5 shards";
  expect(of(line)).toBe(line);
  expect(of("batch 3 took 5s")).not.toBe(of("batch 4 took 5s"));
});
