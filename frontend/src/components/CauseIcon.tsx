import {
  CalendarX2,
  Clock,
  Ear,
  FlaskConical,
  Hand,
  History,
  type LucideIcon,
  RotateCcw,
  Waypoints,
  Webhook,
  Workflow,
} from "lucide-react";
import type { Cause } from "@/api/schema.gen";
import { useT } from "@/i18n";

const icons: Record<Cause, LucideIcon> = {
  schedule: Clock,
  misfire: CalendarX2,
  backfill: History,
  manual: Hand,
  api: Webhook,
  parent: Workflow,
  rerun: RotateCcw,
  ping: Ear,
  step: Waypoints,
  test: FlaskConical,
};

/** Why there was a run, or who asked for it. */
export function CauseMark({ cause, by }: { cause: Cause; by?: string }) {
  const t = useT();
  const Icon = icons[cause];
  return (
    <span className="row g2 sec cause" title={by ? `${t.cause[cause]}, ${t.runs.by(by)}` : t.cause[cause]}>
      <Icon size={14} aria-hidden className="mut" />
      <span className="trunc">{by && cause !== "schedule" && cause !== "test" ? by : t.cause[cause]}</span>
    </span>
  );
}
