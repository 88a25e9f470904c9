import { ChevronLeft, ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { tags } from "@/i18n";
import { usePageWords } from "@/lib/format";
import { addMonths, monthOf } from "@/lib/month";
import { IconButton } from "./Button";
import { Card } from "./Panel";

interface MonthCardProps {
  month: string;
  /** The zone whose dates these are. */
  zone: string;
  onMonth(month: string): void;
  /** A date's own cell; i counts from 0. */
  day(date: string, i: number): ReactNode;
}

/** A month as a wall calendar shows it, a cell for each date, weeks from Monday on. */
export function MonthCard({ month, zone, onMonth, day }: MonthCardProps) {
  const { t, f } = usePageWords();
  const { before, days } = monthOf(month);
  const write = (options: Intl.DateTimeFormatOptions, at: number) =>
    new Intl.DateTimeFormat(tags[f.lang], { ...options, timeZone: "UTC" }).format(at);
  return (
    <Card
      title={write({ year: "numeric", month: "long" }, Date.parse(`${month}-01`))}
      note={zone}
      aside={
        <span className="row g1">
          <IconButton
            icon={ChevronLeft}
            label={t.job.month.prev}
            onClick={() => onMonth(addMonths(month, -1))}
          />
          <IconButton
            icon={ChevronRight}
            label={t.job.month.next}
            onClick={() => onMonth(addMonths(month, 1))}
          />
        </span>
      }
    >
      <div className="month b">
        {Array.from({ length: 7 }, (_, i) => write({ weekday: "short" }, Date.UTC(2024, 0, 1 + i))).map(
          (name) => (
            <span key={name} className="wd mut">
              {name}
            </span>
          ),
        )}
        {Array.from({ length: before }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
          <span key={i} />
        ))}
        {days.map(day)}
      </div>
    </Card>
  );
}
