/** Durations and instants, as the protocol writes them, and pauses. */

const UNITS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns|d))+$/;
const PART = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns|d)/g;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** Read a duration such as 90s, 1h30m, 250ms or 2d. */
export function milliseconds(text: string): number {
  if (text === "" || text === "0") {
    return 0;
  }
  if (!DURATION.test(text)) {
    throw new TypeError(`${JSON.stringify(text)} must be a duration such as 90s or 1h30m`);
  }
  let total = 0;
  for (const [, number, unit] of text.matchAll(PART)) {
    total += Number(number) * (UNITS[unit ?? ""] ?? 0);
  }
  return total;
}

/** Write milliseconds as a duration. */
export function duration(ms: number): string {
  return `${Math.round(ms)}ms`;
}

/** Read an RFC 3339 instant. JavaScript keeps the milliseconds of it. */
export function instant(text: string): Date {
  const at = INSTANT.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(at.getTime())) {
    throw new TypeError(`${JSON.stringify(text)} must be an instant such as 2026-01-05T02:00:00Z`);
  }
  return at;
}

/**
 * Corrects the clock of this machine, if that is wrong: instants of the protocol are those of NATS.
 */
export class Clock {
  /** Clocks differ by as much as this anyhow. */
  static readonly TOLERANCE = 2000;
  /** By how many milliseconds this machine's clock is ahead of NATS'; 0 within the tolerance. */
  offset = 0;

  /** The time by NATS' clock, as far as this machine's own is known to be wrong. */
  now(): Date {
    return new Date(Date.now() - this.offset);
  }

  /** Learn that NATS stored at one instant what was sent at another by this machine's clock. True if that changes much. */
  compare(own: number, stored: number): boolean {
    const ahead = Math.abs(own - stored) > Clock.TOLERANCE ? own - stored : 0;
    if (!Number.isFinite(ahead) || Math.abs(ahead - this.offset) <= Clock.TOLERANCE / 2) {
      return false;
    }
    this.offset = ahead;
    return true;
  }
}

export const clock = new Clock();

/** Milliseconds on a clock that never steps. */
export function monotonic(): number {
  return performance.now();
}

/** Wait, or until the signal is aborted. It never throws. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener("abort", over);
  });
}
