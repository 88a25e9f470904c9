import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Ban, CircleCheck, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { backfillsKey, backfillsQuery, cancelBackfill, isOver } from "@/api/backfill";
import type { Backfill } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { TextField } from "@/components/fields";
import { Card } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Mark } from "@/components/Status";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { AskDialog } from "@/shell/AskDialog";
import { useMay } from "@/shell/may";

/** A job's backfills, each with how far it is; nothing when there are none. */
export default function Backfills({ job }: { job: string }) {
  const t = usePageT();
  const b = t.backfill;
  const client = useQueryClient();
  const ref = refOf(job);
  const operates = useMay()("operate", ref.group);
  const items = useQuery(backfillsQuery(ref)).data?.items ?? [];
  const [ending, setEnding] = useState<Backfill>();
  const [note, setNote] = useState("");
  if (items.length === 0) return null;
  return (
    <Card title={b.card} note={b.cardHint}>
      <Table
        heads={[b.period, b.state, b.progress, { right: b.alive }, b.by, b.asked]}
        actions={b.cancel}
        className="backfills"
      >
        {[...items].reverse().map((x) => (
          <tr key={x.id}>
            <td>
              <Period of={x} />
            </td>
            <td>
              <State of={x} />
            </td>
            <td>
              <Progress of={x} />
            </td>
            <td className="r num">{x.alive ?? 0}</td>
            <td className="sec">{x.by}</td>
            <td className="mut">
              <Ago at={x.asked_at} />
            </td>
            <td className="r">
              {operates && x.begun < x.total && x.cancelled === undefined && (
                <Button small look="danger" onClick={() => setEnding(x)}>
                  {b.cancel}
                </Button>
              )}
            </td>
          </tr>
        ))}
      </Table>
      {ending && (
        <AskDialog
          title={b.cancelAsk}
          hint={b.cancelHint(ending.total - ending.begun)}
          verb={b.cancelVerb}
          act={() => cancelBackfill(ref, ending.id, note)}
          onDone={() => void client.invalidateQueries({ queryKey: backfillsKey(ref) })}
          onClose={() => setEnding(undefined)}
        >
          <TextField label={b.note} optional value={note} maxLength={1000} onChange={setNote} />
        </AskDialog>
      )}
    </Card>
  );
}

function Period({ of }: { of: Backfill }) {
  const f = useFormat();
  const now = useNow();
  return (
    <span className="two-lines">
      <span className="num">
        {f.short(of.first, now)} – {f.short(of.last, now)}
      </span>
      {of.note && <span className="mut trunc">{of.note}</span>}
    </span>
  );
}

function State({ of }: { of: Backfill }) {
  const b = usePageT().backfill;
  if (of.cancelled !== undefined)
    return (
      <Mark tone="idle" icon={Ban}>
        <span title={of.cancelled}>{b.cancelled}</span>
      </Mark>
    );
  if (isOver(of))
    return (
      <Mark tone="ok" icon={CircleCheck}>
        {b.done}
      </Mark>
    );
  return (
    <Mark tone="run" icon={LoaderCircle}>
      {of.begun === of.total ? b.ending : b.going}
    </Mark>
  );
}

function Progress({ of }: { of: Backfill }) {
  const b = usePageT().backfill;
  return (
    <span className="row g2">
      <ShareBar share={of.begun / Math.max(1, of.total)} />
      <span className="num">{b.keep(of.begun, of.total)}</span>
    </span>
  );
}
