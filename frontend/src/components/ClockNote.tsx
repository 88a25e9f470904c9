import type { FireClock } from "@/api/schema.gen";
import { usePage } from "@/i18n";
import { clock as en } from "@/i18n/en/clock";
import { clock as zh } from "@/i18n/zh/clock";

import "./clocknote.css";

const texts = { en: { clock: en }, zh: { clock: zh } };

/** Says what a moved clock has to do with a fire: that its time of day does not exist, or comes twice. */
export function ClockNote({ clock, at }: { clock: FireClock; at: string }) {
  const t = usePage(texts);
  const wall = clock.wall.replace(/:00$/, "");
  return <>{t.clock.fire[clock.kind]?.(wall, at)}</>;
}

/** The same texts for what a whole zone does. */
export const useClockT = () => usePage(texts);
