import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { find, fire, type Rendered, render } from "@/test/render";
import { Tips, tip } from "./Tips";

let page: Rendered;
const at = (id: string) => find(document, `#${id}`);
const shown = () => document.querySelector("[role=tooltip]")?.textContent;
const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms));

beforeEach(() => {
  vi.useFakeTimers();
  page = render(
    <>
      <button type="button" id="run" {...tip("Run now", "R")}>
        <i id="icon" />
      </button>
      <button type="button" id="pause" {...tip("Pause")} />
      <p id="page" />
      <Tips />
    </>,
  );
});
afterEach(() => {
  page.remove();
  vi.useRealTimers();
});

it("says what an element is once the pointer has rested on it, or on a part of it", () => {
  fire(at("icon"), "pointerover");
  wait(399);
  expect(shown()).toBeUndefined();
  wait(1);
  expect(shown()).toBe("Run nowR");
});

it("says nothing of what the pointer only passes, or a finger touches", () => {
  fire(at("run"), "pointerover");
  wait(200);
  fire(at("page"), "pointerover");
  wait(1000);
  expect(shown()).toBeUndefined();
  fire(at("run"), "pointerover", { pointerType: "touch" });
  wait(1000);
  expect(shown()).toBeUndefined();
});

it("goes from one element to the next without a rest", () => {
  fire(at("run"), "pointerover");
  wait(400);
  fire(at("page"), "pointerover");
  wait(150);
  expect(shown()).toBeUndefined();
  fire(at("pause"), "pointerover");
  wait(0);
  expect(shown()).toBe("Pause");
});

it("stays while the pointer goes over to it", () => {
  fire(at("run"), "pointerover");
  wait(400);
  fire(at("page"), "pointerover");
  wait(50);
  fire(find(document, "[role=tooltip]"), "pointerover");
  wait(1000);
  expect(shown()).toBe("Run nowR");
});

it("goes by Escape, which does nothing else then, and by a press", () => {
  const heard: string[] = [];
  const hear = (e: KeyboardEvent) => heard.push(e.key);
  document.addEventListener("keydown", hear);
  fire(at("run"), "pointerover");
  wait(400);
  fire(at("run"), "keydown", { key: "Escape" });
  expect(shown()).toBeUndefined();
  expect(heard).toEqual([]);
  fire(at("run"), "keydown", { key: "Escape" });
  expect(heard).toEqual(["Escape"]);
  document.removeEventListener("keydown", hear);

  fire(at("pause"), "pointerover");
  wait(400);
  fire(at("pause"), "pointerdown");
  wait(1000);
  expect(shown()).toBeUndefined();
});
