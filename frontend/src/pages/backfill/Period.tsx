import { instantToWall, useFormat } from "@/lib/format";

/** A range as clocks of the reader's zone show it, with both dates. */
export function Period({ from, to }: { from: string; to: string }) {
  const f = useFormat();
  const wall = (at: string) => instantToWall(at, f.zone).slice(0, 16).replace("T", " ");
  return (
    <span className="num nowrap" title={f.zone}>
      {wall(from)} – {wall(to)}
    </span>
  );
}
