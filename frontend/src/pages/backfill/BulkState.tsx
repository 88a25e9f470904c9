import {
  Ban,
  CircleCheck,
  Hourglass,
  LoaderCircle,
  type LucideIcon,
  Pause,
  TriangleAlert,
} from "lucide-react";
import type { BulkBackfillJob } from "@/api/schema.gen";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";
import type { Tone } from "@/lib/status";

type State = BulkBackfillJob["state"];

const looks: Record<State, [Tone, LucideIcon]> = {
  waiting: ["idle", Hourglass],
  working: ["run", LoaderCircle],
  stopping: ["warn", Pause],
  done: ["ok", CircleCheck],
  cancelled: ["idle", Ban],
  refused: ["bad", TriangleAlert],
};

/** How a job of a backfill stands. */
export function PartState({ state }: { state: State }) {
  const b = usePageT().bulkBackfill;
  const [tone, icon] = looks[state];
  return (
    <Mark tone={tone} icon={icon}>
      {b.states[state]}
    </Mark>
  );
}

/** How a backfill of many jobs stands as a whole. */
export function BulkState({ of }: { of: { paused?: boolean; cancelled?: boolean; ended_at?: string } }) {
  const b = usePageT().bulkBackfill;
  if (of.paused && !of.ended_at)
    return (
      <Mark tone="warn" icon={Pause}>
        {b.paused}
      </Mark>
    );
  return (
    <PartState
      state={of.cancelled ? (of.ended_at ? "cancelled" : "stopping") : of.ended_at ? "done" : "working"}
    />
  );
}
