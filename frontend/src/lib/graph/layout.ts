import { layout as arrange, Graph } from "@dagrejs/dagre";

/** What is laid out: boxes of a size, and the lines between them. */
export interface Plan {
  boxes: { id: string; width: number; height: number }[];
  lines: { from: string; to: string }[];
  /** Downwards, on narrow screens; else to the right. */
  down: boolean;
}

export interface Place {
  /** The upper left corner. */
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Point = readonly [x: number, y: number];

export interface Layout {
  width: number;
  height: number;
  down: boolean;
  boxes: Map<string, Place>;
  /** Of each line, by its ends, where it turns on its way. */
  turns: Map<string, Point[]>;
}

export const lineKey = (from: string, to: string): string => `${from} ${to}`;

/** Says where each box stands. It takes seconds for a thousand of them, so pages ask a worker (laid.ts). */
export function layout(plan: Plan): Layout {
  const graph = new Graph();
  graph.setGraph({
    // Lines are laid out backwards: this ranker puts a box as near as it can to where its lines lead, and a
    // step belongs beside what it comes after. The default ranker takes half a minute for a thousand boxes.
    rankdir: plan.down ? "BT" : "RL",
    ranker: "longest-path",
    nodesep: 14,
    edgesep: 10,
    ranksep: 44,
    marginx: 0,
    marginy: 0,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, width, height } of plan.boxes) graph.setNode(id, { width, height });
  for (const { from, to } of plan.lines) graph.setEdge(to, from);
  arrange(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const boxes = new Map<string, Place>();
  for (const { id, width: w, height: h } of plan.boxes) {
    const { x, y } = graph.node(id) as { x: number; y: number };
    boxes.set(id, { x: x - w / 2, y: y - h / 2, width: w, height: h });
  }
  const turns = new Map<string, Point[]>();
  for (const e of graph.edges()) {
    const { points } = graph.edge(e) as { points: { x: number; y: number }[] };
    // Of three, the one between neighbours is not a turn.
    const inner = points.length > 3 ? points.slice(1, -1).reverse() : [];
    turns.set(
      lineKey(e.w, e.v),
      inner.map(({ x, y }) => [x, y]),
    );
  }
  return { width, height, down: plan.down, boxes, turns };
}
