import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CirclePause, TriangleAlert } from "lucide-react";
import { useState } from "react";
import { healthQuery, holdQuery, setPause } from "@/api/cluster";
import { Button } from "@/components/Button";
import { TextField } from "@/components/fields";
import { Card } from "@/components/Panel";
import { PauseEndField } from "@/components/PauseEndField";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";
import { AskDialog } from "@/shell/AskDialog";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";

/** The switch for everything. */
export function Switch() {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const client = useQueryClient();
  const complain = useComplain();
  const operates = useMay()("operate", "*");
  const hold = useQuery(holdQuery).data;
  const silent = useQuery(healthQuery).data?.checks.some((c) => c.name === "bus" && !c.ok) ?? false;
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const until = endOf(end, now, f.zone);
  const changed = () => {
    setNote("");
    setEnd(noEnd);
    void client.invalidateQueries();
  };
  const resume = useMutation({
    mutationFn: () => setPause(false, ""),
    onError: complain,
    onSuccess: changed,
  });
  if (!hold) return null;
  return (
    <Card title={t.cluster.switch}>
      <div className="b stack">
        {hold.paused ? (
          <>
            <Mark tone="warn" icon={CirclePause}>
              {t.cluster.heldNow}
            </Mark>
            <p className="sec">
              {hold.effective_from && t.cluster.since(f.short(hold.effective_from, now))}{" "}
              {hold.until && t.pause.heldUntil(f.short(hold.until, now))}{" "}
              {hold.author && t.banner.heldBy(hold.author)} {hold.note}
            </p>
            <Button look="primary" may={operates} busy={resume.isPending} onClick={() => resume.mutate()}>
              {t.cluster.resumeAll}
            </Button>
          </>
        ) : (
          <>
            {silent ? (
              <Mark tone="warn" icon={TriangleAlert}>
                {t.cluster.busSilent}
              </Mark>
            ) : (
              <Mark tone="ok" icon={CircleCheck}>
                {t.cluster.running}
              </Mark>
            )}
            <Button look="danger" icon={CirclePause} may={operates} onClick={() => setAsking(true)}>
              {t.cluster.pauseAll}
            </Button>
          </>
        )}
      </div>
      {asking && (
        <AskDialog
          title={t.cluster.pauseAsk}
          hint={t.cluster.pauseHint}
          verb={t.cluster.pauseAll}
          disabled={Number.isNaN(until)}
          act={() => setPause(true, note, until === undefined ? undefined : new Date(until).toISOString())}
          onDone={changed}
          onClose={() => setAsking(false)}
        >
          <PauseEndField value={end} onChange={setEnd} />
          <TextField label={t.cluster.reason} value={note} maxLength={500} onChange={setNote} />
        </AskDialog>
      )}
    </Card>
  );
}
