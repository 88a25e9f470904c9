import { useWords } from "@/lib/format";
import { Button } from "./Button";

/** Says which part of time a chart was narrowed to, with the way back to all of it. */
export function Zoomed({
  range: { from, to },
  now,
  onLeave,
}: {
  range: { from: number; to: number };
  now: number;
  onLeave(): void;
}) {
  const { t, f } = useWords();
  return (
    <p className="zoomed">
      <span className="tag num">
        {f.short(from, now)} – {f.short(to, now)}
      </span>
      <Button small onClick={onLeave}>
        {t.runs.zoomOut}
      </Button>
    </p>
  );
}
