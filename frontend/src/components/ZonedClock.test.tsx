import { expect, it } from "vitest";
import type { Format } from "@/lib/format";
import { render } from "@/test/render";
import { ZonedClock } from "./ZonedClock";

// The reader's clock is that of Shanghai.
const shown = (zone: string, at: string, write = (f: Format) => f.minute(at)) => {
  const { host, remove } = render(<ZonedClock at={at} zone={zone} write={write} />);
  const text = host.textContent;
  remove();
  return text;
};

it("an instant of a schedule is shown in its zone and in the reader's, both with their names where they differ", () => {
  expect(shown("UTC", "2026-01-05T01:00:00Z")).toBe("01:00 UTC = 09:00 UTC+8");
  expect(shown("Asia/Shanghai", "2026-01-05T01:00:00Z")).toBe("09:00");
  expect(shown("Asia/Taipei", "2026-01-05T01:00:00Z")).toBe("09:00");
  expect(shown("UTC", "2026-01-05T20:00:00Z")).toMatch(/^20:00 UTC = Tue,? 6 Jan 04:00 UTC\+8$/);
});

it("a clock that is written with its day has it once", () => {
  const at = "2026-01-05T20:00:00Z";
  expect(shown("UTC", at, (f) => f.short(at, Date.parse("2026-03-01T00:00:00Z")))).toBe(
    "5 Jan 20:00 UTC = 6 Jan 04:00 UTC+8",
  );
});
