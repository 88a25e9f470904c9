import { act, useState } from "react";
import { afterEach, expect, it } from "vitest";
import { find, fire, type Rendered, render, type } from "@/test/render";
import { CronCells } from "./CronCells";

let page: Rendered;
let expression: string;
afterEach(() => page.remove());

function Field({ of }: { of: string }) {
  const [value, setValue] = useState(of);
  expression = value;
  return <CronCells value={value} onChange={setValue} bad={false} />;
}
function show(of: string) {
  page = render(<Field of={of} />);
}
const cell = (n: number) => find<HTMLInputElement>(page.host, ".cron input", n);
const cells = () => [...page.host.querySelectorAll<HTMLInputElement>(".cron input")].map((i) => i.value);
const paste = (n: number, text: string) => fire(cell(n), "paste", { clipboardData: { getData: () => text } });

it("each field has a cell, and a cell changes its own field only", () => {
  show("0 3 * * mon-fri");
  expect(cells()).toEqual(["0", "3", "*", "*", "mon-fri"]);
  type(cell(1), "*/2");
  expect(expression).toBe("0 */2 * * mon-fri");
  type(cell(0), " 1 5 "); // spaces would begin another field
  expect(expression).toBe("15 */2 * * mon-fri");
});

it("a cell that is emptied stays so while one types, and is open once it is left", () => {
  show("30 3 * * *");
  fire(cell(0), "focusin");
  type(cell(0), "");
  expect(cells()[0]).toBe("");
  expect(expression).toBe("30 3 * * *");
  fire(cell(0), "focusout");
  expect(cells()[0]).toBe("*");
  expect(expression).toBe("* 3 * * *");
});

it("a whole expression that is pasted fills every cell, however many it has", () => {
  show("0 3 * * *");
  expect(paste(2, "0 15 10 ? * 6L 2026-2027").defaultPrevented).toBe(true);
  expect(cells()).toEqual(["0", "15", "10", "?", "*", "6L", "2026-2027"]);
  expect(expression).toBe("0 15 10 ? * 6L 2026-2027");
  expect(paste(0, "7").defaultPrevented).toBe(false); // that is for the cell alone
});

it("arrows at a cell's end and the space bar lead to the next", () => {
  show("0 3 * * *");
  act(() => cell(0).focus());
  cell(0).setSelectionRange(1, 1);
  fire(cell(0), "keydown", { key: "ArrowRight" });
  expect(document.activeElement).toBe(cell(1));
  fire(cell(1), "keydown", { key: " " });
  expect(document.activeElement).toBe(cell(2));
  cell(2).setSelectionRange(0, 0);
  fire(cell(2), "keydown", { key: "ArrowLeft" });
  expect(document.activeElement).toBe(cell(1));
});

it("seconds make it an expression of Quartz, in which one of the days is open, and back", () => {
  show("30 3 * * mon");
  fire(find(page.host, ".cronfoot button"), "click");
  expect(expression).toBe("0 30 3 ? * mon");
  fire(find(page.host, ".cronfoot button"), "click");
  expect(expression).toBe("30 3 * * mon");
});
