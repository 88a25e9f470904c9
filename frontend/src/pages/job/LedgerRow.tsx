import { Link } from "@tanstack/react-router";
import { Ban, ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { LedgerEntry, LedgerStep } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { CauseMark } from "@/components/CauseIcon";
import { Mark, Status } from "@/components/Status";
import { Clock } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatDuration, parseDuration } from "@/lib/duration";
import { shortId } from "@/lib/ids";
import { useSayer } from "@/lib/reason";
import { Outcome } from "@/pages/ledger/Outcome";

interface LedgerRowProps {
  entry: LedgerEntry;
  /** Whether the table has a column for the buttons that open rows. */
  opens: boolean;
}

/** What became of a fire. That of a workflow opens to its steps, each in a row below. */
export function LedgerRow({ entry: e, opens }: LedgerRowProps) {
  const t = usePageT();
  const { say } = useSayer();
  const [open, setOpen] = useState(false);
  const steps = e.steps ?? [];
  return (
    <>
      <tr>
        {opens && (
          <td className="opener">
            {steps.length > 0 && (
              <IconButton
                icon={open ? ChevronDown : ChevronRight}
                size={14}
                label={t.ledger.steps}
                aria-expanded={open}
                onClick={() => setOpen(!open)}
              />
            )}
          </td>
        )}
        <td>
          <span className="row g2">
            <Clock at={e.fire_time} />
            {e.cause && <CauseMark cause={e.cause} />}
          </span>
        </td>
        <td>
          <Outcome outcome={e.outcome} />
        </td>
        <td>{e.status ? <Status status={e.status} /> : "—"}</td>
        <td>
          <RunOf run={e} />
        </td>
        <td className="r num sec">{e.decided_at ? formatDuration(parseDuration(e.late ?? "") ?? 0) : "—"}</td>
        <td className="result">
          <span className="sec">{say(e.reason)}</span>
        </td>
      </tr>
      {open && steps.map((s) => <StepRow key={s.step} step={s} />)}
    </>
  );
}

/** What became of a step, in the columns of the fire. */
function StepRow({ step: s }: { step: LedgerStep }) {
  const t = usePageT();
  const { say } = useSayer();
  return (
    <tr className="ofstep">
      <td className="opener" />
      <td className="mono">{s.step}</td>
      <td>
        {s.outcome === "cancelled" ? (
          <Mark tone="idle" icon={Ban}>
            {t.status.cancelled}
          </Mark>
        ) : (
          <Outcome outcome={s.outcome} />
        )}
      </td>
      <td>{s.status ? <Status status={s.status} /> : "—"}</td>
      <td>
        <RunOf run={s} />
      </td>
      <td />
      <td className="result">
        <span className="sec">{say(s.reason)}</span>
      </td>
    </tr>
  );
}

/** The way to a run that has started. */
function RunOf({ run }: { run: { run_id: string; started_at?: string } }) {
  if (!run.started_at) return "—";
  return (
    <Link to="/runs/$runId" params={{ runId: run.run_id }} className="mono plain">
      {shortId(run.run_id)}
    </Link>
  );
}
