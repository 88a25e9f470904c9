import { edgesOf, type Step } from "@/lib/graph/steps";

/** A step that runs a handler after others. */
export function aStep(step: string, after: unknown = [], change: Partial<Step> = {}): Step {
  return { step, kind: "handler", after: edgesOf(after), ...change };
}

/** Ten steps as a nightly job has them: a branch, a join, a failure handler and a cleanup. */
export const ten: Step[] = [
  aStep("extract"),
  aStep("clean", "extract"),
  aStep("enrich", "extract", { kind: "http" }),
  aStep("check", ["clean", "enrich"]),
  aStep("full", "check"),
  aStep("empty", "check"),
  aStep("book", ["full", "empty"], { join: "taken" }),
  aStep("tell", { step: "book", on: "failure" }, { kind: "shell", may_fail: true }),
  aStep("report", { step: "book", on: "end" }, { kind: "script" }),
  aStep("unlock", [], { finally: true }),
];

/** One, so many after it, and one after all of these. */
export const fan = (many: number): Step[] => {
  const names = Array.from({ length: many }, (_, i) => `load_${i}`);
  return [aStep("list"), ...names.map((n) => aStep(n, "list")), aStep("sum", names)];
};

/** Layers of ten, each step after two or three of the layer before: nothing in it is alike. */
export function layers(many: number): Step[] {
  return Array.from({ length: many }, (_, i) => {
    const [layer, n] = [Math.floor(i / 10), i % 10];
    if (layer === 0) return aStep(`s${i}`);
    const sources = [n, (n + 1 + (layer % 3)) % 10, (n * 7 + layer) % 10].slice(0, 2 + (n % 2));
    return aStep(
      `s${i}`,
      [...new Set(sources)].map((s) => `s${(layer - 1) * 10 + s}`),
    );
  });
}
