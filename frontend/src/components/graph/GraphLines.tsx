import { memo, useMemo } from "react";
import { arrow, boundsOf, curve, pointsOf } from "@/lib/graph/curve";
import type { Line } from "@/lib/graph/fold";
import type { Layout, Place } from "@/lib/graph/layout";
import { meets } from "@/lib/graph/view";

/** A line, and whether its source met it; undefined while that is not decided. */
export interface DrawnLine extends Line {
  met: boolean | undefined;
}

interface LinesProps {
  lines: readonly DrawnLine[];
  layout: Layout;
  part: Place;
}

/** The lines of a graph: all of a look in one path, so that thousands take a few elements. */
export const GraphLines = memo(function GraphLines({ lines, layout, part }: LinesProps) {
  const drawn = useMemo(
    () =>
      lines.map((line) => {
        const points = pointsOf(line, layout);
        return {
          look: lookOf(line),
          bounds: boundsOf(points),
          path: curve(points, layout.down),
          head: arrow(points, layout.down),
        };
      }),
    [lines, layout],
  );
  const looks = new Map<string, { path: string; head: string }>();
  for (const { look, bounds, path, head } of drawn) {
    if (!meets(bounds, part)) continue;
    const of = looks.get(look) ?? { path: "", head: "" };
    looks.set(look, { path: of.path + path, head: of.head + head });
  }
  return (
    <svg className="glines" width="1" height="1" aria-hidden>
      {[...looks].sort().map(([look, { path, head }]) => (
        <g key={look} className={look}>
          <path d={path} />
          <path className="head" d={head} />
        </g>
      ))}
    </svg>
  );
});

/** Solid after success, dashed after failure, dotted after any end; strong if it was met, pale if it was not. */
function lookOf({ on, met }: DrawnLine): string {
  const dash = on === "success" ? "solid" : on === "failure" ? "dashed" : "dotted";
  return `gline ${dash}${met === undefined ? "" : met ? " met" : " unmet"}`;
}
