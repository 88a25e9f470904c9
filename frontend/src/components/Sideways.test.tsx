import { act } from "react";
import { expect, it, vi } from "vitest";
import { find, render } from "@/test/render";
import { Sideways } from "./Sideways";

it("the keyboard reaches a box that scrolls, and no other", () => {
  let resized = () => {};
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(tell: () => void) {
        resized = () => act(tell);
      }
      observe() {}
      disconnect() {}
    },
  );
  const { host, remove } = render(
    <Sideways>
      <table />
    </Sideways>,
  );
  const box = find(host, ".sideways");
  const needs = (px: number) => {
    Object.defineProperties(box, {
      clientWidth: { value: 400, configurable: true },
      scrollWidth: { value: px, configurable: true },
    });
    resized();
    return box.getAttribute("tabindex");
  };
  expect(needs(400)).toBeNull();
  expect(needs(401)).toBe("0");
  expect(needs(400)).toBeNull();
  remove();
});
