import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { find, fire, type Rendered, render } from "@/test/render";
import { Chart } from "./Chart";

let page: Rendered;
let width: (px: number) => void;
const opened: number[] = [];
const stretches: (readonly number[])[] = [];

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(tell: (entries: { contentRect: { width: number } }[]) => void) {
        width = (px) => act(() => tell([{ contentRect: { width: px } }]));
      }
      observe() {}
      disconnect() {}
    },
  );
  page = render(
    <Chart
      label="Four marks"
      height={100}
      left={40}
      count={4}
      find={(share) => (share >= 0 && share < 1 ? Math.floor(share * 4) : undefined)}
      open={(mark) => (mark === 3 ? undefined : () => opened.push(mark))}
      onStretch={(marks) => stretches.push(marks)}
      card={(mark, _, chosen) => ({ x: 10, text: chosen ? `marks ${chosen.join(" to ")}` : `mark ${mark}` })}
    >
      {(plot) => <rect width={plot.width} />}
    </Chart>,
  );
  width(454); // 400 for the plot
});
afterEach(() => {
  page.remove();
  opened.splice(0);
  stretches.splice(0);
});

const chart = () => find<SVGElement>(page.host, "svg");
const told = () => page.host.querySelector("[role=status]")?.textContent;
const press = (key: string, more = {}) => fire(chart(), "keydown", { key, ...more });
const point = (type: string, clientX: number) => fire(chart(), type, { clientX, button: 0, pointerId: 1 });

it("is drawn once its width is known, and as wide as that", () => {
  expect(find(page.host, "rect").getAttribute("width")).toBe("400");
  width(254);
  expect(find(page.host, "rect").getAttribute("width")).toBe("200");
});

it("tells of the mark under the pointer, and opens it by a click", () => {
  fire(chart(), "pointermove", { clientX: 40 + 150 });
  expect(told()).toBe("mark 1");
  fire(chart(), "click", { clientX: 40 + 150 });
  fire(chart(), "click", { clientX: 10 }); // beside the plot
  expect(opened).toEqual([1]);
});

it("is read with the arrow keys, from the last mark on", () => {
  press("ArrowLeft");
  expect(told()).toBe("mark 3");
  press("Enter"); // that one cannot be opened
  press("ArrowLeft");
  press("Enter");
  press("ArrowRight");
  press("ArrowRight");
  expect(told()).toBe("mark 3");
  expect(opened).toEqual([2]);
  fire(chart(), "focusout");
  expect(told()).toBeUndefined();
});

it("has marks chosen together by dragging, in either direction and beyond its ends", () => {
  chart().setPointerCapture = () => undefined;
  point("pointerdown", 40 + 250);
  point("pointermove", 40 + 150);
  expect(told()).toBe("marks 1 to 2");
  point("pointermove", -20);
  expect(told()).toBe("marks 0 to 2");
  point("pointerup", -20);
  point("click", 40 + 50);
  expect(stretches).toEqual([[0, 2]]);
  expect(opened).toEqual([]); // that click was the end of dragging
  point("pointerdown", 40 + 150);
  point("pointermove", 40 + 152);
  point("pointerup", 40 + 152);
  point("click", 40 + 152);
  expect(opened).toEqual([1]); // a hand that shakes clicks
  expect(stretches).toHaveLength(1);
});

it("has marks chosen together by the arrow keys with Shift, and Enter", () => {
  const shift = { shiftKey: true };
  press("ArrowLeft");
  press("ArrowLeft", shift);
  press("ArrowLeft", shift);
  expect(told()).toBe("marks 1 to 3");
  press("Escape");
  expect(told()).toBe("mark 1");
  press("ArrowRight", shift);
  press("Enter");
  expect(stretches).toEqual([[1, 2]]);
  expect(opened).toEqual([]);
  press("Enter");
  expect(opened).toEqual([2]);
});
