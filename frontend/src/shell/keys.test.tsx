import { act } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, expect, it } from "vitest";
import { keepTyped, takeTyped, useKeys } from "./keys";

const pressed: string[] = [];

function Layer({ name, keys }: { name: string; keys: string[] }) {
  useKeys(Object.fromEntries(keys.map((key) => [key, () => pressed.push(`${name}: ${key}`)])));
  return null;
}

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
const root = createRoot(document.createElement("div"));
const show = (page: boolean) =>
  act(() =>
    root.render(
      <>
        <Layer name="shell" keys={["n", "g o", "t"]} />
        {page && <Layer name="log" keys={["n", "g g"]} />}
      </>,
    ),
  );
const press = (key: string, target: EventTarget = document.body) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

afterEach(() => void pressed.splice(0));

it("a page's key comes before the same key of the shell, while the page is there", () => {
  show(false);
  press("n");
  show(true);
  press("n");
  press("t");
  show(false);
  press("n");
  expect(pressed).toEqual(["shell: n", "log: n", "shell: t", "shell: n"]);
});

it("two keys in a row are one binding, whoever has it", () => {
  show(true);
  for (const key of ["g", "g", "g", "o", "g", "n", "n"]) press(key);
  expect(pressed).toEqual(["log: g g", "shell: g o", "log: n"]);
});

it("letters do nothing in a field", () => {
  show(true);
  const field = document.body.appendChild(document.createElement("input"));
  press("n", field);
  field.remove();
  expect(pressed).toEqual([]);
});

it("letters that are typed for a field that is about to come are kept for it, and bind nothing", () => {
  show(true);
  keepTyped();
  for (const key of ["n", "t", "x", "Backspace", "o"]) press(key);
  expect(pressed).toEqual([]);
  expect(takeTyped()).toBe("nto");
  press("t");
  expect(pressed).toEqual(["shell: t"]);
  expect(takeTyped()).toBe("");
});
