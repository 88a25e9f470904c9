import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clockSkew, noteServerDate, serverNow } from "./clock";

const noon = Date.parse("2026-01-05T12:00:00Z");

describe("the server's clock", () => {
  beforeEach(() => vi.useFakeTimers({ now: noon }));
  afterEach(() => vi.useRealTimers());

  const dateOf = (ms: number) => new Date(ms).toUTCString();

  it("is no other than ours while a slow connection explains the difference", () => {
    noteServerDate(dateOf(noon - 5000), noon - 6000);
    expect(clockSkew()).toBe(0);
    noteServerDate(dateOf(noon - 1000), noon);
    expect(clockSkew()).toBe(0);
  });

  it("is ahead or behind by what the way there and back does not explain", () => {
    noteServerDate(dateOf(noon + 3600_000), noon - 1000);
    expect(clockSkew()).toBe(3600_000 + 500 + 500);
    expect(serverNow()).toBe(noon + 3600_000 + 1000);
    noteServerDate(dateOf(noon - 60_000), noon);
    expect(clockSkew()).toBe(-59_500);
    noteServerDate(null, noon);
    expect(clockSkew()).toBe(-59_500);
    noteServerDate(dateOf(noon), noon);
    expect(clockSkew()).toBe(0);
  });
});
