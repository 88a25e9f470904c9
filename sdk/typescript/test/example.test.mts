import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";

import { Final } from "@carillon-scheduler/executor";
import { runHandler } from "@carillon-scheduler/executor/testing";

import { app } from "../examples/reports.mjs";

const FOLDER = join(import.meta.dirname, "../..");

test("the README has the example, which works", async () => {
  const example = readFileSync(join(FOLDER, "examples/reports.mts"), "utf8");
  assert.ok(readFileSync(join(FOLDER, "README.md"), "utf8").includes(example.slice(example.indexOf("import"))));
  const end = await runHandler(app, "report", { region: "north", rows: 3 });
  assert.deepEqual([end.status, end.result, end.lines], ["succeeded", { written: 3 }, ["begun region=north"]]);
  assert.equal((await runHandler(app, "report", { region: "mars" })).final, true);
});

test("import and require give the same classes", () => {
  assert.equal(createRequire(import.meta.url)("@carillon-scheduler/executor").Final, Final);
});
