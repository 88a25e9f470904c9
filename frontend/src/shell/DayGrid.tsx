import { ChevronLeft, ChevronRight } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { IconButton } from "@/components/Button";
import { tags } from "@/i18n";
import { usePageWords } from "@/lib/format";
import { addMonths, monthOf } from "@/lib/month";
import { addDays } from "@/lib/timerange";

interface DayGridProps {
  /** On which day weeks begin: 1 is Monday, 7 is Sunday. */
  firstDay: number;
  today: string;
  /** The first day that is chosen, and the last. */
  from: string;
  to: string;
  onChange(from: string, to: string): void;
}

/** A month whose days one chooses from: the first and then the last, by mouse or by keys. */
export function DayGrid({ firstDay, today, from, to, onChange }: DayGridProps) {
  const { t, f } = usePageWords();
  const r = t.range;
  // The day that the keys are at, and the one with which a choice began.
  const [at, setAt] = useState(to > today ? today : to);
  const [begun, setBegun] = useState<string>();
  const grid = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const month = at.slice(0, 7);
  const { before, days } = monthOf(month);
  const gap = (before - (firstDay - 1) + 7) % 7;
  const cells = [...Array.from({ length: gap }, () => undefined), ...days];
  const weeks = Array.from({ length: Math.ceil(cells.length / 7) }, (_, i) => cells.slice(i * 7, i * 7 + 7));
  const write = (options: Intl.DateTimeFormatOptions, date: string) =>
    new Intl.DateTimeFormat(tags[f.lang], { ...options, timeZone: "UTC" }).format(Date.parse(date));

  // biome-ignore lint/correctness/useExhaustiveDependencies: with each day that the keys move to
  useEffect(() => {
    if (moved.current) grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
    moved.current = false;
  }, [at]);

  const choose = (day: string) => {
    setAt(day);
    const [a, b] = begun !== undefined && day >= begun ? [begun, day] : [day, day];
    setBegun(begun !== undefined && day >= begun ? undefined : day);
    onChange(a, b);
  };
  const turn = (by: number) => {
    const { days: there } = monthOf(addMonths(month, by));
    return there[Math.min(Number(at.slice(8)), there.length) - 1] ?? at;
  };
  const moves: Record<string, () => string> = {
    ArrowLeft: () => addDays(at, -1),
    ArrowRight: () => addDays(at, 1),
    ArrowUp: () => addDays(at, -7),
    ArrowDown: () => addDays(at, 7),
    PageUp: () => turn(-1),
    PageDown: () => turn(1),
    Home: () => `${month}-01`,
    End: () => days.at(-1) ?? at,
  };
  return (
    <div className="daygrid">
      <div className="row g2">
        <b className="grow" aria-live="polite">
          {write({ year: "numeric", month: "long" }, `${month}-01`)}
        </b>
        <IconButton icon={ChevronLeft} label={r.previous} onClick={() => setAt(turn(-1))} />
        <IconButton icon={ChevronRight} label={r.next} onClick={() => setAt(turn(1))} />
      </div>
      <div
        role="grid"
        aria-label={r.own}
        title={r.keys}
        ref={grid}
        tabIndex={-1}
        onKeyDown={(e) => {
          const move = moves[e.key];
          if (!move) return;
          e.preventDefault();
          moved.current = true;
          setAt(move());
        }}
      >
        <div role="row">
          {Array.from({ length: 7 }, (_, i) => `2024-01-0${((firstDay - 1 + i) % 7) + 1}`).map((date) => (
            <span key={date} role="columnheader" aria-label={write({ weekday: "long" }, date)}>
              {write({ weekday: "narrow" }, date)}
            </span>
          ))}
        </div>
        {weeks.map((week, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: weeks of a month stay where they are
          <div role="row" key={i}>
            {week.map((day, j) =>
              day === undefined ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
                <span role="gridcell" key={j} />
              ) : (
                <button
                  type="button"
                  role="gridcell"
                  key={day}
                  tabIndex={day === at ? 0 : -1}
                  data-edge={day === from || day === to}
                  aria-selected={from <= day && day <= to}
                  aria-current={day === today ? "date" : undefined}
                  aria-label={write({ weekday: "long", day: "numeric", month: "long", year: "numeric" }, day)}
                  onClick={() => choose(day)}
                >
                  {Number(day.slice(8))}
                </button>
              ),
            )}
          </div>
        ))}
      </div>
    </div>
  );
}
