import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { GraphStep } from "@/lib/graph/document";
import { layout, type Plan } from "@/lib/graph/layout";
import type { StepState } from "@/lib/graph/steps";
import { fan, layers, ten } from "@/test/graphs";
import { find, fire, type Rendered, render, type as typeIn } from "@/test/render";
import { Graph } from "./Graph";

/** A worker that answers at once, and observers of a window of 1800 by 700. */
class WorkerHere {
  onmessage: (event: { data: unknown }) => void = () => {};
  postMessage({ id, plan }: { id: number; plan: Plan }) {
    queueMicrotask(() => this.onmessage({ data: { id, layout: layout(plan) } }));
  }
  terminate() {}
}
class Observer {
  private readonly tell: () => void;
  constructor(tell: () => void) {
    this.tell = tell;
  }
  observe() {
    this.tell();
  }
  disconnect() {}
}

let shown: Rendered | undefined;
beforeEach(() => {
  vi.stubGlobal("Worker", WorkerHere);
  vi.stubGlobal("ResizeObserver", Observer);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1800);
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(700);
});
afterEach(() => shown?.remove());

const states: Partial<Record<string, StepState>> = {
  extract: "succeeded",
  clean: "failed",
  enrich: "succeeded",
  check: "skipped",
};
const run: GraphStep[] = ten.map((s) => ({ ...s, state: states[s.step] ?? "waiting" }));

async function show(steps: GraphStep[], more: Partial<Parameters<typeof Graph>[0]> = {}) {
  const onChoose = vi.fn();
  shown = render(<Graph steps={steps} label="Graph" onChoose={onChoose} {...more} />);
  await act(async () => {});
  const { host } = shown;
  const tree = find(host, "[role=tree]");
  const press = (key: string) => fire(tree, "keydown", { key });
  const active = () => host.ownerDocument.getElementById(tree.getAttribute("aria-activedescendant") ?? "");
  return { host, press, active, onChoose };
}

const nameOf = (item: Element | null) =>
  item?.getAttribute("aria-label") ?? item?.querySelector(".sr")?.textContent;
const labels = (host: HTMLElement) => [...host.querySelectorAll("[role=treeitem]")].map(nameOf);

it("reads each step out, in the order in which they run", async () => {
  const { host } = await show(run);
  expect(labels(host).slice(0, 4)).toEqual([
    "step 1 of 10, extract, succeeded",
    "step 2 of 10, clean, failed, after extract",
    "step 3 of 10, enrich, succeeded, after extract",
    "step 4 of 10, check, skipped, after clean and enrich",
  ]);
});

it("says a state by an icon and a word beside its colour", async () => {
  const { host } = await show(run);
  const box = find(host, ".gbox.t-bad");
  expect(box.querySelector(".gtext")?.textContent).toBe("cleanFailed");
  expect(box.querySelector(".st svg")).not.toBeNull();
});

it("says of a wait that has begun what it waits for, and of one of a definition too", async () => {
  const wait = { kind: "signal", signal: "paid" } as const;
  const after = [{ step: "a", on: "success" as const }];
  const { host } = await show([
    { step: "a", kind: "wait", after: [], wait, state: "awaits_signal" },
    { step: "b", kind: "wait", after, wait },
  ]);
  expect([...host.querySelectorAll(".gtext")].map((t) => t.textContent)).toEqual([
    "asignal paid",
    "bsignal paid",
  ]);
  expect(labels(host)[0]).toBe("step 1 of 2, a, waits for a signal (signal paid)");
});

it("draws lines by their condition, strong once they are met", async () => {
  const { host } = await show(run);
  const looks = [...host.querySelectorAll(".gline")].map((g) => g.getAttribute("class"));
  expect(looks).toEqual([
    "gline dashed",
    "gline dotted",
    "gline solid met",
    "gline solid unmet",
    "gline solid",
  ]);
});

it("is walked with the keys, which choose a step with Enter", async () => {
  const { press, active, onChoose } = await show(run);
  const at = () => nameOf(active())?.split(", ")[1];
  press("Home");
  expect(at()).toBe("extract");
  press("ArrowRight");
  expect(at()).toMatch(/clean|enrich/);
  press("Home");
  press("f");
  expect(at()).toBe("clean");
  press("Enter");
  expect(onChoose).toHaveBeenCalledWith("clean");
});

it("zooms with the keys, and g leads to the table", async () => {
  const onTable = vi.fn();
  const { host, press } = await show(run, { onTable });
  const scale = () => Number(/scale\((.*)\)/.exec(find(host, ".gworld").style.transform)?.[1]);
  press("0");
  const all = scale();
  press("+");
  expect(scale()).toBeCloseTo(all * 1.25);
  press("-");
  expect(scale()).toBeCloseTo(all);
  press("g");
  expect(onTable).toHaveBeenCalled();
});

it("finds a step by its name, and dims the others", async () => {
  const { host, active } = await show(run);
  const field = find<HTMLInputElement>(host, "input");
  typeIn(field, "enr");
  expect(host.querySelectorAll(".gbox:not(.dimmed)")).toHaveLength(1);
  fire(field, "keydown", { key: "Enter" });
  expect(active()?.textContent).toContain("enrich");
});

it("stands for a thousand alike steps with one box, which says how many did what", async () => {
  const many = fan(1000).map((s, i) => ({ ...s, state: (i < 4 ? "failed" : "succeeded") as StepState }));
  const { host, onChoose } = await show(many);
  expect(host.querySelectorAll("[role=treeitem]")).toHaveLength(3);
  const pile = find(host, ".gbox.pile");
  expect(nameOf(pile)).toBe("step 2 of 1002, load_*, 1000 alike, failed 3 of 1000, after list");
  fire(pile, "click");
  expect(onChoose).toHaveBeenCalledWith("load_0");
});

it("draws no more than what is in sight of a thousand steps that differ", async () => {
  const { host, press } = await show(layers(1000), { chosen: "s503" });
  expect(host.querySelectorAll("*").length).toBeLessThan(1500);
  expect(labels(host).some((l) => l?.includes(", s503,"))).toBe(true);
  press("0"); // all of them, without their words
  expect(host.querySelectorAll("[role=treeitem]")).toHaveLength(1000);
  expect(host.querySelectorAll("*").length).toBeLessThan(1500);
});
