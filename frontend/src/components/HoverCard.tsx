import type { ReactNode } from "react";

/** A card beside a mark of a chart, within the chart's width. */
export function HoverCard({
  x,
  y,
  width,
  children,
}: {
  x: number;
  y: number;
  width: number;
  children: ReactNode;
}) {
  const right = x > width / 2;
  return (
    <div
      className="tt hover"
      role="status"
      style={{ top: y, ...(right ? { right: width - x + 10 } : { left: x + 10 }) }}
    >
      {children}
    </div>
  );
}
