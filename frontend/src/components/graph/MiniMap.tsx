import { memo } from "react";
import type { Layout } from "@/lib/graph/layout";
import { type StepState, stepTones } from "@/lib/graph/steps";
import { centre, type Size, type View } from "@/lib/graph/view";

const room = { width: 180, height: 110 };

interface MiniMapProps {
  layout: Layout;
  states: ReadonlyMap<string, StepState | undefined>;
  view: View;
  window: Size;
  onView(view: View): void;
}

/** All of a large graph, and which part of it is shown. It only helps pointers: keys have the graph itself. */
export function MiniMap({ layout, states, view, window, onView }: MiniMapProps) {
  const k = Math.min(room.width / layout.width, room.height / layout.height);
  const go = (e: React.PointerEvent) => {
    if (e.buttons !== 1) return;
    const box = e.currentTarget.getBoundingClientRect();
    const at = { x: (e.clientX - box.left) / k, y: (e.clientY - box.top) / k, width: 0, height: 0 };
    onView(centre(at, view.k, window));
  };
  const frame = {
    x: (-view.x / view.k) * k,
    y: (-view.y / view.k) * k,
    width: (window.width / view.k) * k,
    height: (window.height / view.k) * k,
  };
  return (
    <svg
      className="gmap"
      width={layout.width * k}
      height={layout.height * k}
      aria-hidden
      onPointerDown={go}
      onPointerMove={go}
    >
      <Patches layout={layout} states={states} k={k} />
      <rect className="frame" {...frame} />
    </svg>
  );
}

const Patches = memo(function Patches({
  layout,
  states,
  k,
}: Pick<MiniMapProps, "layout" | "states"> & { k: number }) {
  const paths = new Map<string, string>();
  for (const [id, { x, y, width, height }] of layout.boxes) {
    const state = states.get(id);
    const tone = state ? stepTones[state] : "idle";
    const [w, h] = [Math.max(1.5, width * k), Math.max(1.5, height * k)];
    paths.set(tone, `${paths.get(tone) ?? ""}M${x * k} ${y * k}h${w}v${h}h${-w}z`);
  }
  return [...paths].map(([tone, d]) => <path key={tone} className={`t-${tone}`} d={d} />);
});
