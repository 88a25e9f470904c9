import { useState } from "react";
import { expect, it } from "vitest";
import { fieldsOf } from "@/lib/schema";
import { find, fire, render, type } from "@/test/render";
import { RunParams } from "./RunParams";

const fields =
  fieldsOf({
    type: "object",
    required: ["day"],
    properties: { day: { type: "string" }, rows: { type: "integer" } },
  }) ?? [];

/** The parameters of a run, and the JSON that they are. */
function show(first: string) {
  let json = first;
  function Params() {
    const [text, setText] = useState(first);
    json = text;
    return <RunParams fields={fields} text={text} onChange={setText} />;
  }
  return { ...render(<Params />), params: () => JSON.parse(json) };
}

it("a form changes the fields that it shows, and keeps the others", () => {
  const { host, params, remove } = show('{"day":"monday","more":[1]}');
  const [day, rows] = [find<HTMLInputElement>(host, "input", 0), find<HTMLInputElement>(host, "input", 1)];
  expect(day.value).toBe("monday");
  type(rows, "7");
  expect(params()).toEqual({ day: "monday", more: [1], rows: 7 });
  type(day, "");
  expect(params()).toEqual({ more: [1], rows: 7 });
  fire(find(host, ".seg button", 1), "click");
  expect(host.querySelectorAll(".schemaform").length).toBe(0);
  remove();
});

it("parameters that are no object are shown as JSON", () => {
  const { host, remove } = show("[1]");
  expect(host.querySelectorAll(".schemaform").length).toBe(0);
  expect(find<HTMLButtonElement>(host, ".seg button", 0).disabled).toBe(true);
  remove();
});
