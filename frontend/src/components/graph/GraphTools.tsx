import { CircleX, Maximize, Search, ZoomIn, ZoomOut } from "lucide-react";
import type { ReactNode, Ref } from "react";
import { IconButton } from "@/components/Button";
import { usePageT } from "@/i18n";

interface ToolsProps {
  ref: Ref<HTMLInputElement>;
  needle: string;
  found: number | undefined;
  bad: number;
  onNeedle(needle: string): void;
  onNext(): void;
  onBad(): void;
  /** Back to the graph. */
  onBack(): void;
  onZoom(by: number): void;
  onAll(): void;
  children?: ReactNode;
}

/** Above a graph: finding a step, the next that failed, and the zoom. */
export function GraphTools({
  ref,
  needle,
  found,
  bad,
  onNeedle,
  onNext,
  onBad,
  onBack,
  onZoom,
  onAll,
  children,
}: ToolsProps) {
  const t = usePageT();
  return (
    <div className="gtools">
      {children}
      <label className="inp sm">
        <Search size={14} aria-hidden />
        <input
          ref={ref}
          type="search"
          value={needle}
          placeholder={t.steps.find}
          aria-label={t.steps.find}
          onChange={(e) => onNeedle(e.target.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter" && !e.nativeEvent.isComposing) onNext();
            if (e.key !== "Escape") return;
            onNeedle("");
            onBack();
          }}
        />
        {found !== undefined && <span className="mut num">{found}</span>}
      </label>
      {bad > 0 && (
        <button type="button" className="chip b" onClick={onBad} title={`${t.steps.nextBad} (F)`}>
          <CircleX size={13} aria-hidden className="c-bad" />
          <span className="num">{bad}</span>
          <span className="sr">{t.steps.nextBad}</span>
        </button>
      )}
      <span className="right row g1">
        <IconButton icon={ZoomOut} label={t.steps.zoomOut} keys="-" onClick={() => onZoom(0.8)} />
        <IconButton icon={ZoomIn} label={t.steps.zoomIn} keys="+" onClick={() => onZoom(1.25)} />
        <IconButton icon={Maximize} label={t.steps.showAll} keys="0" onClick={onAll} />
      </span>
    </div>
  );
}
