import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { find, fire, type Rendered, render, type } from "@/test/render";
import { FilterField } from "./FilterField";

let page: Rendered;
const heard: string[] = [];
const field = (value: string, eager = false) => (
  <FilterField value={value} placeholder="Name" eager={eager} onChange={(next) => heard.push(next)} />
);
const input = () => find<HTMLInputElement>(page.host, "input");
const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  page.remove();
  heard.splice(0);
  vi.useRealTimers();
});

it("takes over what was typed a moment after the last key", () => {
  page = render(field(""));
  type(input(), "j");
  wait(100);
  type(input(), "jo");
  wait(119);
  expect(heard).toEqual([]);
  wait(1);
  expect(heard).toEqual(["jo"]);
});

it("takes over the first key at once where the list is fast, and those that follow together", () => {
  page = render(field("", true));
  type(input(), "j");
  expect(heard).toEqual(["j"]);
  wait(60);
  type(input(), "jo");
  wait(60);
  type(input(), "job");
  expect(heard).toEqual(["j"]);
  wait(120);
  expect(heard).toEqual(["j", "job"]);
  wait(500);
  type(input(), "");
  expect(heard).toEqual(["j", "job", ""]);
});

it("waits until an input method has composed its text", () => {
  page = render(field("", true));
  fire(input(), "compositionstart");
  type(input(), "ren wu");
  wait(1000);
  expect(heard).toEqual([]);
  type(input(), "任务");
  fire(input(), "compositionend");
  wait(120);
  expect(heard.at(-1)).toBe("任务");
  expect(heard).not.toContain("ren wu");
});

it("shows what Back or a link brings, but not its own text a second time", () => {
  page = render(field("old"));
  type(input(), "new");
  wait(120);
  type(input(), "newer");
  page.show(field("new")); // the address has caught up with the key before
  expect(input().value).toBe("newer");
  page.show(field("old"));
  expect(input().value).toBe("old");
});
