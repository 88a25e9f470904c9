import { describe, expect, it } from "vitest";
import { aStep, fan, layers, ten } from "@/test/graphs";
import { boundsOf, curve, pointsOf } from "./curve";
import { fold, stackName } from "./fold";
import { layout, type Plan } from "./layout";
import { goesDown } from "./shape";
import { edgesOf, inOrder, isMet, type Step } from "./steps";
import { centre, firstView, meets, reveal, shownPart, whole, zoom } from "./view";
import { walk } from "./walk";

const names = (steps: { step: string }[]) => steps.map((s) => s.step).join(" ");

describe("the steps of a document", () => {
  it("have sources as a name, an object or a list", () => {
    expect(edgesOf("a")).toEqual([{ step: "a", on: "success" }]);
    expect(edgesOf({ step: "a", on: "failure" })).toEqual([{ step: "a", on: "failure" }]);
    expect(edgesOf(["a", { step: "b", on: "odd" }, 3, null])).toEqual([
      { step: "a", on: "success" },
      { step: "b", on: "success" },
    ]);
    expect(edgesOf(undefined)).toEqual([]);
  });

  it("are in an order in which each comes after its sources, and finally ones last", () => {
    expect(names(inOrder([aStep("unlock", [], { finally: true }), ...ten.slice(0, 9).reverse()]))).toBe(
      "extract enrich clean check empty full book report tell unlock",
    );
  });

  it("are all in the order even while a document is wrong", () => {
    const steps = [aStep("a", "b"), aStep("b", "a"), aStep("c", "nobody"), aStep("c"), aStep("d", "d")];
    expect(names(inOrder(steps))).toBe("c d a b");
  });

  it("meet an edge by how they ended, and skipped ones only always", () => {
    expect(isMet("success", "running")).toBeUndefined();
    expect(isMet("success", undefined)).toBeUndefined();
    const met = (on: "success" | "failure" | "end" | "always") =>
      (["succeeded", "failed", "missed", "skipped", "cancelled"] as const).map((s) =>
        isMet(on, s) ? "x" : ".",
      );
    expect(met("success").join("")).toBe("x....");
    expect(met("failure").join("")).toBe(".xx..");
    expect(met("end").join("")).toBe("xxx..");
    expect(met("always").join("")).toBe("xxxxx");
  });
});

describe("folding", () => {
  it("makes one box of eight siblings that are alike, and none of seven", () => {
    expect(fold(fan(7)).boxes).toHaveLength(9);
    const { boxes, lines } = fold(fan(1000));
    expect(boxes.map((b) => b.steps.length)).toEqual([1, 1000, 1]);
    expect(lines).toEqual([
      { from: "list", to: "load_0", on: "success" },
      { from: "load_0", to: "sum", on: "success" },
    ]);
    expect(boxes[1] && stackName(boxes[1])).toBe("load_*");
  });

  it("keeps apart what differs in its shape", () => {
    const steps = fan(16).map((s, i) => (i > 8 && i < 17 ? { ...s, may_fail: true } : s));
    expect(fold(steps).boxes.map((b) => b.steps.length)).toEqual([1, 8, 8, 1]);
  });

  it("draws a finally step after those that nothing comes after", () => {
    const { lines } = fold(inOrder(ten));
    expect(lines.filter((l) => l.implied).map((l) => `${l.from} ${l.to} ${l.on}`)).toEqual([
      "tell unlock always",
      "report unlock always",
    ]);
  });
});

function laid(steps = inOrder(ten), down = false) {
  const { boxes, lines } = fold(steps);
  const plan: Plan = { boxes: boxes.map(({ id }) => ({ id, width: 208, height: 52 })), lines, down };
  return { at: layout(plan), lines };
}

describe("the layout", () => {
  it("puts each box after its sources, and no two onto each other", () => {
    const { at, lines } = laid(inOrder(layers(200)));
    const place = (id: string) => at.boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };
    for (const l of lines) expect(place(l.from).x + 208).toBeLessThan(place(l.to).x);
    const all = [...at.boxes.values()];
    expect(all.some((a, i) => all.slice(i + 1).some((b) => meets(a, b)))).toBe(false);
  });

  it("goes downwards on a narrow screen", () => {
    const { at, lines } = laid(inOrder(ten), true);
    for (const l of lines) expect(at.boxes.get(l.from)?.y).toBeLessThan(at.boxes.get(l.to)?.y ?? 0);
  });

  it("puts a step right after its sources, however late it is needed", () => {
    const { at } = laid(inOrder([...ten, aStep("alone", "extract")]));
    expect(at.boxes.get("alone")?.x).toBe(at.boxes.get("clean")?.x);
  });

  it("turns downwards what is deep where there is little width", () => {
    const box = { width: 184, height: 54 };
    const turns = (steps: Step[], width: number) =>
      goesDown(fold(inOrder(steps)), { width, height: 600 }, box);
    expect([turns(ten, 700), turns(ten, 2000)]).toEqual([true, false]);
    expect(turns(fan(7), 700)).toBe(false);
  });

  it("has lines from one box into the other", () => {
    const { at, lines } = laid();
    const line = lines.find((l) => l.from === "book" && l.to === "tell");
    const points = line ? pointsOf(line, at) : [];
    const [book, tell] = ["book", "tell"].map((id) => at.boxes.get(id));
    expect(points[0]).toEqual([(book?.x ?? 0) + 208, (book?.y ?? 0) + 26]);
    expect(points.at(-1)).toEqual([tell?.x, (tell?.y ?? 0) + 26]);
    expect(curve(points, false)).toMatch(/^M[\d.]+ [\d.]+C/);
    expect(boundsOf(points).width).toBeGreaterThan(0);
  });
});

describe("the keys", () => {
  it("walk along the lines, and across them within a rank", () => {
    const { at, lines } = laid();
    const go = (from: string, way: "left" | "right" | "up" | "down") => walk(from, way, at, lines);
    expect(go("book", "left")).toMatch(/^(full|empty)$/);
    expect(go("clean", "left")).toBe("extract");
    expect(go("clean", "right")).toBe("check");
    const other = go("clean", "down") ?? go("clean", "up");
    expect(other).toBe("enrich");
    expect(go("extract", "left")).toBeUndefined();
    expect(go("unlock", "right")).toBeUndefined();
  });

  it("walk along the lines downwards where these lead down", () => {
    const { at, lines } = laid(inOrder(ten), true);
    expect(walk("clean", "up", at, lines)).toBe("extract");
    expect(walk("clean", "left", at, lines) ?? walk("clean", "right", at, lines)).toBe("enrich");
  });
});

describe("the view", () => {
  const window = { width: 800, height: 600 };

  it("shows all of a small picture in the middle, and no larger than it is", () => {
    expect(whole({ width: 400, height: 200 }, window)).toEqual({ k: 1, x: 200, y: 200 });
    expect(whole({ width: 7520, height: 200 }, window).k).toBeCloseTo(0.1);
  });

  it("begins where it matters when all of it would be too small to read", () => {
    const { at } = laid(inOrder(layers(300)));
    const place = at.boxes.get("s150");
    const view = firstView(at, window, place);
    expect(view.k).toBe(0.8);
    expect((place?.x ?? 0) * view.k + view.x).toBeGreaterThan(0);
    expect((place?.x ?? 0) * view.k + view.x).toBeLessThan(800);
  });

  it("keeps the point under the pointer when it zooms", () => {
    const view = zoom({ x: 10, y: 20, k: 1 }, 1.5, [100, 100]);
    expect([(100 - view.x) / view.k, (100 - view.y) / view.k]).toEqual([90, 80]);
    expect(zoom(view, 100, [0, 0]).k).toBe(2);
  });

  it("moves no further than a box needs to be seen", () => {
    const view = { x: 0, y: 0, k: 1 };
    expect(reveal(view, { x: 100, y: 100, width: 208, height: 52 }, window)).toEqual(view);
    expect(reveal(view, { x: 700, y: 100, width: 208, height: 52 }, window).x).toBe(-132);
    expect(reveal(view, { x: -50, y: 100, width: 208, height: 52 }, window).x).toBe(74);
    expect(centre({ x: 0, y: 0, width: 200, height: 100 }, 1, window)).toEqual({ k: 1, x: 300, y: 250 });
  });

  it("covers the window with the part that is drawn", () => {
    for (const view of [
      { x: -133, y: 77, k: 0.7 },
      { x: 900, y: -4000, k: 2 },
    ]) {
      const part = shownPart(view, window);
      expect(part.x).toBeLessThanOrEqual(-view.x / view.k);
      expect(part.x + part.width).toBeGreaterThanOrEqual((800 - view.x) / view.k);
      expect(part.y + part.height).toBeGreaterThanOrEqual((600 - view.y) / view.k);
    }
  });
});
