import { expect, it } from "vitest";
import { formatBytes } from "./bytes";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1.0 kB"],
  [9_949, "9.9 kB"],
  [9_951, "10 kB"],
  [999_499, "999 kB"],
  [999_500, "1.0 MB"],
  [4_200_000_000, "4.2 GB"],
  [8e18, "8000 PB"],
])("%d bytes are written %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
