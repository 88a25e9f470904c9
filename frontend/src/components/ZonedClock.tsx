import type { ReactNode } from "react";
import { type Format, isSameClock, offsetName, useFormat } from "@/lib/format";

interface ZonedClockProps {
  at: string;
  /** The zone of the schedule. */
  zone: string;
  /** How a clock is written. */
  write(f: Format): string;
  className?: string;
  /** What stands behind the clock, such as the day there. */
  children?: ReactNode;
}

/**
 * An instant of a schedule as clocks of its zone show it, with the zone where those of the reader show
 * something else. The reader's time is in the tooltip.
 */
export function ZonedClock({ at, zone, write, className = "num", children }: ZonedClockProps) {
  const f = useFormat();
  const ms = Date.parse(at);
  return (
    <time className={className} dateTime={at} title={f.full(at)}>
      {write(f.in(zone))}
      {!isSameClock(zone, f.zone, ms) && <span className="mut"> {offsetName(zone, ms)}</span>}
      {children && <> {children}</>}
    </time>
  );
}
