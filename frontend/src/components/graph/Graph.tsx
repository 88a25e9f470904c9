import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { usePageWords } from "@/lib/format";
import type { GraphStep } from "@/lib/graph/document";
import { type Box, fold } from "@/lib/graph/fold";
import type { Plan } from "@/lib/graph/layout";
import { goesDown } from "@/lib/graph/shape";
import { inOrder, isMet } from "@/lib/graph/steps";
import {
  centre,
  firstView,
  meets,
  reveal,
  type Size,
  shownPart,
  type View,
  whole,
  zoom,
} from "@/lib/graph/view";
import { type Way, walk } from "@/lib/graph/walk";
import { type BoxWords, boxesOf, firstOf, isBadBox, stateOf } from "./boxes";
import { GraphBox } from "./GraphBox";
import { GraphLines } from "./GraphLines";
import { GraphTools } from "./GraphTools";
import { MiniMap } from "./MiniMap";
import { useStateWord } from "./StepState";
import { useGraphLayout } from "./useGraphLayout";
import { useExtent, usePanZoom } from "./usePanZoom";
import "./graph.css";

/** So many boxes have all their words; others have their name alone, as those too small to be read. */
const detailed = 70;
const legible = 0.65;
const size = { width: 184, height: 54 };

interface GraphProps {
  steps: readonly GraphStep[];
  label: string;
  /** The step that is shown beside the graph. */
  chosen?: string;
  onChoose(step: string): void;
  /** Shows the table in the place of the graph. */
  onTable?(): void;
  now?: number;
  children?: ReactNode;
}

const ways: Partial<Record<string, Way>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

/** The steps of a workflow and what they come after. For who cannot see it, a tree in the order in which they run. */
export function Graph({ steps, label, chosen, onChoose, onTable, now = 0, children }: GraphProps) {
  const { t, f } = usePageWords();
  const word = useStateWord();
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const window = useExtent(frame);
  const ordered = useMemo(() => inOrder(steps), [steps]);
  const picture = useMemo(() => fold(ordered), [ordered]);
  const homes = useMemo(
    () => new Map(picture.boxes.flatMap((b) => b.steps.map((s) => [s.step, b.id] as const))),
    [picture],
  );
  // The way that shows more of it at once, as long as the page is open: it does not turn when a panel opens.
  const [first, setFirst] = useState<Size>();
  if (window && window.width > 0 && !first) setFirst(window);
  const down = useMemo(() => first !== undefined && goesDown(picture, first, size), [picture, first]);
  const plan: Plan = {
    boxes: picture.boxes.map((b) => ({ id: b.id, ...size })),
    lines: picture.lines.map(({ from, to }) => ({ from, to })),
    down,
  };
  const { layout, error } = useGraphLayout(first ? plan : undefined);
  const states = useMemo(() => new Map(picture.boxes.map((b) => [b.id, stateOf(b)])), [picture]);
  const lines = useMemo(
    () => picture.lines.map((l) => ({ ...l, met: isMet(l.on, states.get(l.from)) })),
    [picture, states],
  );
  const [active, setActive] = useState<string>();
  const [needle, setNeedle] = useState("");
  const [view, setView] = useState<View>({ x: 0, y: 0, k: 1 });
  const touched = useRef(false);
  const home = chosen === undefined ? undefined : homes.get(chosen);
  const current = [active, home].find((b) => b !== undefined && states.has(b)) ?? picture.boxes[0]?.id;
  const look =
    home ??
    firstOf(picture.boxes, isBadBox) ??
    firstOf(picture.boxes, (b) => stateOf(b) === "running") ??
    current;
  const place = (box: string | undefined) => (box === undefined ? undefined : layout?.boxes.get(box));
  const change = (next: (view: View) => View) => {
    touched.current = true;
    setView(next);
  };
  const pan = usePanZoom(frame, { view, onView: change });

  // Nobody has moved it yet: it is shown as is best, for the states there are now.
  const lookAt = useRef(look);
  lookAt.current = look;
  useEffect(() => {
    if (!layout || !window || touched.current) return;
    const at = lookAt.current === undefined ? undefined : layout.boxes.get(lookAt.current);
    setView(firstView(layout, window, at));
  }, [layout, window]);
  // What is chosen elsewhere is brought into sight.
  useEffect(() => {
    if (home === undefined) return;
    setActive(home);
    const at = layout?.boxes.get(home);
    if (at && window) setView((v) => reveal(v, at, window));
  }, [home, layout, window]);

  const goTo = (box: string | undefined) => {
    const at = place(box);
    if (box === undefined || !at || !window) return;
    setActive(box);
    change((v) => (v.k < legible / 2 ? centre(at, 1, window) : reveal(v, at, window)));
  };
  const choose = (box: string) => {
    const found = picture.boxes.find((b) => b.id === box);
    if (!found) return;
    setActive(box);
    const state = stateOf(found);
    onChoose((found.steps.find((s) => s.state === state) ?? found.steps[0])?.step ?? box);
  };
  const next = (fits: (box: Box<GraphStep>) => boolean) => {
    const at = picture.boxes.findIndex((b) => b.id === current);
    const from = active === undefined ? 0 : at + 1; // the first key may stay where it is
    goTo(firstOf([...picture.boxes.slice(from), ...picture.boxes.slice(0, from)], fits));
  };
  const isFound = (box: Box<GraphStep>) =>
    box.steps.some((s) => `${s.step} ${s.title ?? ""}`.toLowerCase().includes(needle.trim().toLowerCase()));
  const zoomBy = (by: number) => window && change((v) => zoom(v, by, [window.width / 2, window.height / 2]));
  const all = () => {
    if (!layout || !window) return;
    touched.current = false;
    setView(whole(layout, window));
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const way = ways[e.key];
    const keys: Record<string, () => void> = {
      Enter: () => current !== undefined && choose(current),
      " ": () => current !== undefined && choose(current),
      Home: () => goTo(picture.boxes[0]?.id),
      End: () => goTo(picture.boxes.at(-1)?.id),
      f: () => next(isBadBox),
      "+": () => zoomBy(1.25),
      "=": () => zoomBy(1.25),
      "-": () => zoomBy(0.8),
      "0": all,
      "/": () => field.current?.focus(),
      ...(onTable && { g: onTable }),
    };
    const act = way ? () => layout && goTo(walk(current ?? "", way, layout, lines)) : keys[e.key];
    if (!act) return;
    act();
    e.preventDefault(); // nor do the keys of the page
  };
  const onClick = (e: React.MouseEvent) => {
    if (pan.hasMoved()) return;
    const box = (e.target as Element).closest<HTMLElement>("[role=treeitem]");
    const index = box?.id.slice(id.length);
    const found = index === undefined ? undefined : picture.boxes[Number(index)];
    if (found) choose(found.id);
  };

  const part = window && shownPart(view, window);
  const words: BoxWords = { t, f, word, now };
  const looking = needle.trim() !== "";
  const drawn =
    layout && part
      ? boxesOf(picture.boxes, ordered, words).flatMap((box, i) => {
          const at = layout.boxes.get(box.key);
          return at && (meets(at, part) || box.key === current) ? [{ box, at, i }] : [];
        })
      : [];
  const seen = window && {
    x: -view.x / view.k,
    y: -view.y / view.k,
    width: window.width / view.k,
    height: window.height / view.k,
  };
  let full = view.k < legible ? 0 : detailed;
  return (
    <section className={looking ? "graph looking" : "graph"} aria-label={label}>
      <GraphTools
        ref={field}
        needle={needle}
        found={looking ? picture.boxes.filter(isFound).length : undefined}
        bad={picture.boxes.filter(isBadBox).length}
        onNeedle={setNeedle}
        onNext={() => next(isFound)}
        onBad={() => next(isBadBox)}
        onBack={() => tree.current?.focus()}
        onZoom={zoomBy}
        onAll={all}
      >
        {children}
      </GraphTools>
      {error ? (
        <p className="note warn" role="alert">
          {t.steps.noLayout}
        </p>
      ) : null}
      <div
        ref={frame}
        className={pan.panning ? "gframe panning" : "gframe"}
        {...pan.handlers}
        onClick={onClick}
        aria-busy={!layout && !error}
      >
        <div
          ref={tree}
          className="gtree"
          role="tree"
          tabIndex={0}
          aria-label={t.steps.tree(ordered.length)}
          aria-activedescendant={
            drawn.find((d) => d.box.key === current) &&
            `${id}${picture.boxes.findIndex((b) => b.id === current)}`
          }
          onKeyDown={onKeyDown}
        >
          <div className="gworld" style={{ ...pan.style, "--gk": view.k } as React.CSSProperties}>
            {layout && part && <GraphLines lines={lines} layout={layout} part={part} />}
            {drawn.map(({ box: { key, ...box }, at, i }) => {
              const isFull = full > 0 && seen !== undefined && meets(at, seen);
              if (isFull) full--;
              const of = picture.boxes[i];
              return (
                <GraphBox
                  key={key}
                  {...box}
                  {...at}
                  id={`${id}${i}`}
                  plain={!isFull}
                  chosen={key === home}
                  active={key === current}
                  dimmed={looking && of !== undefined && !isFound(of)}
                />
              );
            })}
          </div>
        </div>
        {layout && window && picture.boxes.length > 40 && (
          <MiniMap
            layout={layout}
            states={states}
            view={view}
            window={window}
            onView={(v) => change(() => v)}
          />
        )}
      </div>
    </section>
  );
}
