import { type Edge, type On, type Step, targetsOf } from "./steps";

/** So many steps that are alike become one box. */
const fewest = 8;

/** A box of the picture: a step, or several that are alike. */
export interface Box<S extends Step = Step> {
  /** The name of its first step. */
  id: string;
  steps: S[];
}

export interface Line {
  from: string;
  to: string;
  on: On;
  /** No edge of the document: a finally step comes after all others. */
  implied?: boolean;
}

export interface Picture<S extends Step = Step> {
  boxes: Box<S>[];
  lines: Line[];
}

/** More lines to a finally step than this would only be clutter. */
const mostImplied = 24;

/**
 * What is drawn of steps that are in order. Siblings with the same sources, targets and shape
 * become one box when there are many of them. It depends on the definition alone, never on states.
 */
export function fold<S extends Step>(steps: readonly S[]): Picture<S> {
  const targets = targetsOf(steps);
  const alike = new Map<string, S[]>();
  for (const s of steps) {
    const shape = JSON.stringify([
      s.kind,
      s.join ?? "all",
      s.finally ?? false,
      s.may_fail ?? false,
      s.change,
      s.after.map(written).sort(),
      (targets.get(s.step) ?? []).toSorted(),
    ]);
    const of = alike.get(shape);
    if (of) of.push(s);
    else alike.set(shape, [s]);
  }
  const homes = new Map<string, string>();
  const boxes: Box<S>[] = [];
  for (const members of alike.values()) {
    for (const box of members.length >= fewest ? [members] : members.map((s) => [s])) {
      const id = box[0]?.step ?? "";
      boxes.push({ id, steps: box });
      for (const s of box) homes.set(s.step, id);
    }
  }
  const places = new Map(steps.map((s, i) => [s.step, i]));
  boxes.sort((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
  return { boxes, lines: linesOf(steps, homes, targets) };
}

const written = (e: Edge): string => `${e.step} ${e.on}`;

function linesOf(
  steps: readonly Step[],
  homes: ReadonlyMap<string, string>,
  targets: ReadonlyMap<string, string[]>,
): Line[] {
  const lines = new Map<string, Line>();
  const add = (line: Line) => {
    if (line.from !== line.to) lines.set(`${line.from} ${line.to} ${line.on}`, line);
  };
  for (const s of steps) {
    const to = homes.get(s.step);
    for (const e of s.after) {
      const from = homes.get(e.step);
      if (from !== undefined && to !== undefined) add({ from, to, on: e.on });
    }
  }
  const last = new Set(
    steps.filter((s) => !s.finally && !targets.has(s.step)).map((s) => homes.get(s.step) ?? ""),
  );
  if (last.size <= mostImplied)
    for (const s of steps)
      if (s.finally && s.after.length === 0)
        for (const from of last) add({ from, to: homes.get(s.step) ?? "", on: "always", implied: true });
  return [...lines.values()];
}

/** What a box with several steps is called: what their names begin with, as in load_*. */
export function stackName(box: Box): string {
  const names = box.steps.map((s) => s.step);
  const [first = "", ...rest] = names;
  let n = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, n))) n--;
  const head = first.slice(0, n).replace(/\d+$/, "");
  return head === "" ? `${first} … ${names.at(-1)}` : `${head}*`;
}
