import { expect, it } from "vitest";
import { fieldsOf, missingOf, withProperty } from "./schema";

const schema = {
  type: "object",
  required: ["region", "window"],
  properties: {
    region: { type: "string", enum: ["north", "south"], description: "Where" },
    limit: { type: ["integer", "null"], minimum: 1, maximum: 50 },
    dry_run: { type: "boolean", default: true },
    tags: { type: ["null", "array"], items: { type: "string" } },
    window: { type: "object", required: ["from"], properties: { from: { type: "string" } } },
    anything: {},
    either: { type: ["string", "integer"] },
    matrix: { type: "array", items: { type: "array" } },
  },
};

it("makes a field of each property, and JSON of what no field can say", () => {
  const fields = fieldsOf(schema) ?? [];
  expect(fields.map((f) => [f.name, f.kind, f.required])).toEqual([
    ["region", "choice", true],
    ["limit", "integer", false],
    ["dry_run", "yesno", false],
    ["tags", "list", false],
    ["window", "group", true],
    ["anything", "json", false],
    ["either", "json", false],
    ["matrix", "json", false],
  ]);
  expect(fields[0]).toMatchObject({ choices: ["north", "south"], hint: "Where" });
  expect(fields[1]).toMatchObject({ min: 1, max: 50 });
  expect(fields[4]?.fields.map((f) => f.name)).toEqual(["from"]);
});

it("has no form for what is no object", () => {
  expect(fieldsOf({ type: "array", items: {} })).toBeUndefined();
  expect(fieldsOf({ type: ["object", "string"], properties: { a: {} } })).toBeUndefined();
  expect(fieldsOf(true)).toBeUndefined();
});

it("says which required fields a value lacks, at any depth", () => {
  const fields = fieldsOf(schema) ?? [];
  expect(missingOf(fields, {})).toEqual(["region", "window.from"]);
  expect(missingOf(fields, { region: "north", window: { from: "9" } })).toEqual([]);
});

it("changes one property in its place, and leaves nothing empty behind", () => {
  expect(JSON.stringify(withProperty({ a: 1, b: 2 }, "a", 3))).toBe('{"a":3,"b":2}');
  expect(withProperty({ a: 1 }, "a", undefined)).toBeUndefined();
  expect(withProperty("text", "a", 1)).toEqual({ a: 1 });
});
