import type { Preview } from "@/api/schema.gen";
import type { PageMessages } from "@/i18n/en/pages";
import type { Format } from "./format";

/**
 * When clocks are moved next, and what becomes of the fires then; undefined for schedules that have no such
 * fires. f writes instants in UTC: those of the change are wall-clock times already.
 */
export function clockChangeInWords(
  { kind, clock }: Preview,
  zone: string,
  t: PageMessages["clock"],
  f: Format,
): string | undefined {
  if (kind === "manual" || kind === "once") return undefined;
  if (kind === "fixed_rate" || kind === "fixed_delay") return t.elapsed;
  if (!clock) return t.none(zone);
  const at = Date.parse(clock.at);
  const [from, to] = [at + clock.before_seconds * 1000, at + clock.after_seconds * 1000];
  return to > from
    ? `${t.forward(f.day(from), f.minute(from), f.minute(to))} ${t.gap[clock.gap]}`
    : `${t.back(f.day(from), f.minute(from), f.minute(to))} ${t.overlap[clock.overlap]}`;
}
