import { afterEach, expect, it, vi } from "vitest";
import { aRun, at } from "@/test/factories";
import { find, fire, type Rendered, render } from "@/test/render";
import { RunStrip } from "./RunStrip";

const went: string[] = [];
vi.mock("@tanstack/react-router", () => ({
  useNavigate: () => (to: { params: { runId: string } }) => went.push(to.params.runId),
}));

let page: Rendered;
afterEach(() => {
  page.remove();
  went.splice(0);
});

const runs = [
  aRun({ run_id: "newest", status: "failed", finished_at: at(4) }),
  aRun({ run_id: "middle" }),
  aRun({ run_id: "oldest" }),
];
const strip = () => find<SVGElement>(page.host, "svg");
/** Over the nth place of thirty. */
const over = (place: number) => fire(strip(), "pointermove", { clientX: place * 6 + 3 });
const tipped = () => page.host.querySelector("[data-tip]")?.getAttribute("data-tip");

it("has one path for each colour, however many runs there are", () => {
  page = render(<RunStrip runs={runs} />);
  const paths = [...page.host.querySelectorAll("path")].map((p) => [
    p.getAttribute("class"),
    p.getAttribute("d")?.match(/M[\d.]+/g),
  ]);
  expect(paths).toEqual([
    ["m-ok", ["M162", "M168"]],
    ["m-bad", ["M174"]],
  ]);
  expect(strip().getAttribute("aria-label")).toContain("3");
});

/** In a row, which is opened by a click; returns how often it was. */
function inRow(): () => number {
  let opened = 0;
  page = render(
    <div onClick={() => opened++}>
      <RunStrip runs={runs} />
    </div>,
  );
  return () => opened;
}

it("tells of the run under the pointer, and opens it rather than the row", () => {
  const opened = inRow();
  over(29);
  expect(tipped()).toMatch(/^Failed · 4.0 s · /);
  fire(strip(), "click");
  over(27);
  expect(tipped()).toMatch(/^Succeeded · 1.0 s · /);
  fire(strip(), "click");
  expect(went).toEqual(["newest", "oldest"]);
  expect(opened()).toBe(0);
});

it("has nothing to tell where there was no run, and leaves the click to the row", () => {
  const opened = inRow();
  over(5);
  fire(strip(), "click");
  expect(tipped()).toBeUndefined();
  expect(went).toEqual([]);
  expect(opened()).toBe(1);
});
