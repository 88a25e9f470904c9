import { usePageWords } from "@/lib/format";
import { minutesOf } from "@/lib/load";
import { perDay } from "./HeatMap";

const quarter = 900_000;

interface DayLoadProps {
  /** The midnight with which the values begin. */
  start: number;
  /** Of each quarter of an hour; undefined of those that have passed. */
  values: (number | undefined)[];
  /** The quarter of an hour whose day is drawn. */
  shown: number;
  onShow(i: number): void;
  /** What a quarter of an hour has, in words. */
  say(i: number): string;
  /** How much there is room for in a quarter of an hour. */
  capacity: number | undefined;
}

/** A day in quarters of an hour, each as high as what fires in it, and the slots that there are. */
export function DayLoad({ start, values, shown, onShow, say, capacity }: DayLoadProps) {
  const { t, f } = usePageWords();
  const first = Math.floor(shown / perDay) * perDay;
  const day = Array.from({ length: perDay }, (_, q) => values[first + q] ?? 0);
  const most = Math.max(...day, 1);
  // A line far above all bars would make them flat: then it is said, and not drawn.
  const isDrawn = capacity !== undefined && capacity <= 4 * most;
  const top = isDrawn ? Math.max(most, capacity) : most;
  const title = f.day(start + (first + perDay / 2) * quarter);
  return (
    <figure className="dayload" aria-label={t.plan.dayLoad(title)}>
      <figcaption className="row g3 mut">
        <b>{title}</b>
        {capacity !== undefined && (
          <span className={isDrawn ? "capline" : undefined}>
            {t.plan.capacityLine(minutesOf(capacity, f.number))}
          </span>
        )}
      </figcaption>
      <div className="daybars" aria-hidden>
        {isDrawn && <hr style={{ bottom: `${(capacity / top) * 100}%` }} />}
        {day.map((n, q) => (
          <i
            // biome-ignore lint/suspicious/noArrayIndexKey: a quarter of an hour is its number
            key={q}
            className={
              capacity !== undefined && n > capacity ? "over" : first + q === shown ? "on" : undefined
            }
            style={{ height: `${(n / top) * 100}%` }}
            title={`${f.minute(start + (first + q) * quarter)} · ${say(first + q)}`}
            onClick={() => values[first + q] !== undefined && onShow(first + q)}
          />
        ))}
      </div>
    </figure>
  );
}
