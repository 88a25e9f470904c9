import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { find, fire, render } from "@/test/render";
import { grace, Toasts, toastBefore } from "./Toasts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a double click in a list starts one run, and another one can be started after it", () => {
  const { host, remove } = render(<Toasts />);
  const start = vi.fn();
  const click = () => act(() => toastBefore("report starts in 5 s", "Undo", start));
  const pass = () => act(() => void vi.advanceTimersByTime(grace));
  click();
  click();
  expect(host.querySelectorAll(".toast")).toHaveLength(1);
  pass();
  expect(start).toHaveBeenCalledTimes(1);
  click();
  fire(find(host, ".toast .act"), "click");
  pass();
  expect(start).toHaveBeenCalledTimes(1);
  click();
  pass();
  expect(start).toHaveBeenCalledTimes(2);
  remove();
});
