import { useRef } from "react";
import { afterEach, expect, it } from "vitest";
import { find, fire, type Rendered, render } from "@/test/render";
import { useWindow } from "./useWindow";

let page: Rendered;
afterEach(() => page.remove());

const all = Array.from({ length: 10_000 }, (_, n) => n);

function List({ rows }: { rows: number }) {
  const scroller = useRef<HTMLDivElement>(null);
  const view = useWindow(scroller, rows, 20);
  return (
    <div ref={scroller}>
      <i style={{ height: view.before }} />
      {all.slice(view.from, view.to).map((n) => (
        <b key={n}>{n}</b>
      ))}
      <i style={{ height: view.after }} />
    </div>
  );
}
const drawn = () => [...page.host.querySelectorAll("b")].map((b) => Number(b.textContent));
const space = (n: number) => find(page.host, "i", n).style.height;

function scrollTo(top: number, height = 400) {
  const scroller = find(page.host, "div");
  Object.defineProperties(scroller, {
    scrollTop: { value: top, configurable: true },
    clientHeight: { value: height, configurable: true },
  });
  fire(scroller, "scroll");
}

it("of a long list the rows on the screen are drawn, and those around them; space stands for the others", () => {
  page = render(<List rows={10_000} />);
  scrollTo(100_000);
  expect([drawn()[0], drawn().at(-1)]).toEqual([4988, 5031]);
  expect([space(0), space(1)]).toEqual([`${4988 * 20}px`, `${(10_000 - 5032) * 20}px`]);
  scrollTo(0);
  expect(drawn()[0]).toBe(0);
  expect(drawn().length).toBeLessThan(80);
});

it("a short list is drawn whole", () => {
  page = render(<List rows={40} />);
  scrollTo(300);
  expect(drawn()).toHaveLength(40);
});

it("a list that gets shorter while one looks at its end leaves no empty window", () => {
  page = render(<List rows={10_000} />);
  scrollTo(199_600);
  expect(drawn().at(-1)).toBe(9999);
  page.show(<List rows={50} />);
  scrollTo(600);
  expect(drawn().at(-1)).toBe(49);
});
