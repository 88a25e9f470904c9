import {
  CalendarX2,
  CircleCheck,
  CircleHelp,
  Clock,
  History,
  Hourglass,
  type LucideIcon,
  SkipForward,
  TriangleAlert,
} from "lucide-react";
import type { Fate as FateOf } from "@/api/schema.gen";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";
import type { Tone } from "@/lib/status";

const looks: Record<FateOf, [Tone, LucideIcon]> = {
  ran: ["ok", CircleCheck],
  caught_up: ["warn", History],
  pending: ["idle", Clock],
  skipped: ["idle", SkipForward],
  missed: ["warn", CalendarX2],
  undecided: ["idle", Hourglass],
  unjudged: ["idle", CircleHelp],
  discrepancy: ["bad", TriangleAlert],
};

export const fates = Object.keys(looks) as FateOf[];

/** What became of a fire. */
export function Fate({ fate }: { fate: FateOf }) {
  const t = usePageT();
  const [tone, icon] = looks[fate];
  return (
    <Mark tone={tone} icon={icon}>
      {t.ledger.fates[fate]}
    </Mark>
  );
}
