import type { FireClock } from "@/api/schema.gen";
import { usePageT } from "@/i18n";

import "./clocknote.css";

/** Says what a moved clock has to do with a fire: that its time of day does not exist, or comes twice. */
export function ClockNote({ clock, at }: { clock: FireClock; at: string }) {
  const t = usePageT();
  const wall = clock.wall.replace(/:00$/, "");
  return <>{t.clock.fire[clock.kind]?.(wall, at)}</>;
}
