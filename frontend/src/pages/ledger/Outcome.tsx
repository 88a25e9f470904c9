import {
  CalendarX2,
  CircleCheck,
  CircleHelp,
  Clock,
  Ear,
  History,
  Hourglass,
  type LucideIcon,
  SkipForward,
  TriangleAlert,
} from "lucide-react";
import type { Outcome as OutcomeOf } from "@/api/schema.gen";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";
import type { Tone } from "@/lib/status";

const looks: Record<OutcomeOf, [Tone, LucideIcon]> = {
  ran: ["ok", CircleCheck],
  caught_up: ["warn", History],
  reported: ["ok", Ear],
  pending: ["idle", Clock],
  skipped: ["idle", SkipForward],
  missed: ["warn", CalendarX2],
  undecided: ["idle", Hourglass],
  unjudged: ["idle", CircleHelp],
  discrepancy: ["bad", TriangleAlert],
};

export const outcomes = Object.keys(looks) as OutcomeOf[];

/** What became of a fire. */
export function Outcome({ outcome }: { outcome: OutcomeOf }) {
  const t = usePageT();
  const [tone, icon] = looks[outcome];
  return (
    <Mark tone={tone} icon={icon}>
      {t.ledger.outcomes[outcome]}
    </Mark>
  );
}
