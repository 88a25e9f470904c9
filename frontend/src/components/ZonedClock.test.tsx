import { expect, it } from "vitest";
import { makeFormat } from "@/lib/format";
import { find, render } from "@/test/render";
import { ZonedClock } from "./ZonedClock";

/** What is shown, and what a reader in Shanghai sees on hover. */
const shown = (zone: string, at: string) => {
  const { host, remove } = render(<ZonedClock at={at} zone={zone} write={(f) => f.minute(at)} />);
  const said = [host.textContent, find(host, "time").title];
  remove();
  return said;
};

it("an instant of a schedule is shown in its zone, which is named where it is not the reader's", () => {
  const at = "2026-01-05T20:00:00Z";
  const here = makeFormat("en", "Asia/Shanghai").full(at);
  expect(shown("UTC", at)).toEqual(["20:00 UTC", here]);
  expect(shown("Asia/Shanghai", at)).toEqual(["04:00", here]);
  expect(shown("Asia/Taipei", at)).toEqual(["04:00", here]);
});
