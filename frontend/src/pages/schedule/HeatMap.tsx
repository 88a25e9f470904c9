import { useState } from "react";
import { HoverCard } from "@/components/HoverCard";
import { useWidth } from "@/components/useSize";
import { usePageWords } from "@/lib/format";
import { shadesOf } from "@/lib/load";

const quarter = 900_000;
export const days = 7;
export const perDay = 96;

interface HeatMapProps {
  /** The midnight with which it begins. */
  start: number;
  /** Of each quarter of an hour; undefined of those that have passed. */
  values: (number | undefined)[];
  /** The quarter of an hour that it is. */
  current: number;
  /** Those that take more slots than there are. */
  full: ReadonlySet<number>;
  shown: number | undefined;
  onShow(i: number): void;
  /** What a quarter of an hour has, in words. */
  say(i: number): string;
}

/** A week in quarters of an hour, a row a day. Arrows move the selection. */
export function HeatMap({ start, values, current, full, shown, onShow, say }: HeatMapProps) {
  const { t, f } = usePageWords();
  const [box, width] = useWidth<HTMLDivElement>();
  const [over, setOver] = useState<{ i: number; x: number; y: number }>();
  const shade = shadesOf(values);
  const at = (i: number) => start + i * quarter;
  const span = (i: number) => `${f.day(at(i))} ${f.minute(at(i))}–${f.minute(at(i + 1))}`;
  const move = (e: React.KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perDay, ArrowUp: -perDay }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    const next = (shown ?? current) + step;
    if (next >= current && next < days * perDay) onShow(next);
  };
  const overValue = over && values[over.i];
  return (
    <div
      className="heatmap"
      ref={box}
      tabIndex={0}
      role="application"
      aria-label={`${t.plan.loadTitle}: ${shown === undefined ? "" : `${span(shown)}, ${say(shown)}`}`}
      onKeyDown={move}
      onPointerLeave={() => setOver(undefined)}
    >
      {Array.from({ length: days }, (_, d) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a day is its number
        <div key={d} className="heatrow">
          <span className="mut">{f.day(at(d * perDay + 48))}</span>
          {Array.from({ length: perDay }, (_, q) => {
            const i = d * perDay + q;
            const value = values[i];
            return (
              <i
                key={i}
                className={`heat h-${value === undefined ? "past" : shade(value)}${full.has(i) ? " full" : ""}${i === shown ? " on" : ""}${i === current ? " now" : ""}`}
                onPointerEnter={({ currentTarget: c }) =>
                  setOver({ i, x: c.offsetLeft + c.offsetWidth / 2, y: c.offsetTop + c.offsetHeight + 6 })
                }
                onClick={() => i >= current && onShow(i)}
              />
            );
          })}
        </div>
      ))}
      <div className="heatrow axis-row mut num" aria-hidden>
        <span />
        {[0, 3, 6, 9, 12, 15, 18, 21].map((h) => (
          <span key={h} style={{ gridColumn: "span 12" }}>{`${String(h).padStart(2, "0")}:00`}</span>
        ))}
      </div>
      {over && overValue !== undefined && (
        <HoverCard x={over.x} y={over.y} width={width}>
          <b>{span(over.i)}</b>
          <div>{say(over.i)}</div>
        </HoverCard>
      )}
    </div>
  );
}
