import type { ReactNode } from "react";
import { type Format, isSameClock, offsetName, useFormat } from "@/lib/format";

interface ZonedClockProps {
  at: string;
  /** The zone of the schedule. */
  zone: string;
  /** How a clock is written. */
  write(f: Format): string;
  className?: string;
  /** Shows only the time in the schedule's zone, with its offset. The reader's time is in the tooltip. */
  brief?: boolean;
  /** What stands behind the clock of the schedule's zone, such as the day there. */
  children?: ReactNode;
}

/**
 * An instant of a schedule as clocks of its zone show it. Where those of the reader show something
 * else, that stands beside it, and each has its zone.
 */
export function ZonedClock({ at, zone, write, className = "num", brief, children }: ZonedClockProps) {
  const f = useFormat();
  const ms = Date.parse(at);
  const there = f.in(zone);
  const same = isSameClock(zone, f.zone, ms);
  const here = write(f);
  // What is written may have its day already.
  const dayless = [f.time(at), f.minute(at), f.millis(at)].includes(here);
  const day = dayless && there.day(at) !== f.day(at) ? `${f.day(at)} ` : "";
  return (
    <time className={className} dateTime={at} title={f.full(at)}>
      {write(there)}
      {!same && (
        <>
          {" "}
          <span className="mut">{offsetName(zone, ms)}</span> {children}
          {!brief && (
            <>
              {children && " "}
              <span className="mut nowrap here">
                = {day}
                {here} {offsetName(f.zone, ms)}
              </span>
            </>
          )}
        </>
      )}
      {same && children && <> {children}</>}
    </time>
  );
}
