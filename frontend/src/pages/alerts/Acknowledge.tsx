import { useMutation, useQueryClient } from "@tanstack/react-query";
import { UserCheck, X } from "lucide-react";
import { alertsKey, answerIncident } from "@/api/alerts";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useSayer } from "@/lib/reason";
import { useKeys } from "@/shell/keys";

interface AcknowledgeProps {
  /** The incidents that are chosen. */
  chosen: ReadonlySet<string>;
  onClear(): void;
}

/** Takes several incidents on at once, and says of how many that was refused. */
export function Acknowledge({ chosen, onClear }: AcknowledgeProps) {
  const t = usePageT();
  const { sayError } = useSayer();
  const client = useQueryClient();
  useKeys({ escape: onClear });
  const take = useMutation({
    mutationFn: () =>
      Promise.allSettled([...chosen].map((incident) => answerIncident(incident, "acknowledge", ""))),
    onSuccess: (results) => {
      void client.invalidateQueries({ queryKey: alertsKey });
      const refused = results.flatMap((r) => (r.status === "rejected" ? [sayError(r.reason)] : []));
      const [first] = refused;
      toast({
        text: t.joblist.review.result(results.length - refused.length, refused.length),
        ...(first !== undefined && { bad: true, detail: first }),
      });
      onClear();
    },
  });
  return (
    <div className="bulk" role="toolbar" aria-label={t.runlist.bulk.selected(chosen.size)}>
      <span className="num">{t.runlist.bulk.selected(chosen.size)}</span>
      <i />
      <button type="button" disabled={take.isPending} onClick={() => take.mutate()}>
        <UserCheck size={15} aria-hidden />
        {t.alerts.acknowledge}
      </button>
      <i />
      <button type="button" aria-label={t.act.clear} onClick={onClear}>
        <X size={15} aria-hidden />
      </button>
    </div>
  );
}
