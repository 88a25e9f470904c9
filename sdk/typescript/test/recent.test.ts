import assert from "node:assert/strict";
import { test } from "node:test";

import { Recent } from "../src/recent";

test("of too many names, the oldest are forgotten", () => {
  const names = new Recent(60_000, 3);
  for (const name of ["a", "b", "c", "a", "d"]) {
    names.add(name);
  }
  assert.deepEqual(["a", "b", "c", "d"].map((name) => names.has(name)), [true, false, true, true]);
  assert.equal(names.size, 3);
});
