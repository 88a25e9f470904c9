import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BellOff } from "lucide-react";
import { alertsKey, endSilence, silencesQuery } from "@/api/alerts";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";

/** What holds messages back for a while. */
export default function Silences() {
  const t = usePageT();
  const c = t.alerts.columns;
  const client = useQueryClient();
  const complain = useComplain();
  const operates = useMay()("operate", "*");
  const list = useQuery(silencesQuery);
  const end = useMutation({
    mutationFn: endSilence,
    onError: complain,
    onSuccess: () => client.invalidateQueries({ queryKey: alertsKey }),
  });
  if (!list.data) return <Waiting on={list} />;
  if (list.data.items.length === 0)
    return <Empty icon={BellOff} title={t.alerts.noSilences} hint={t.alerts.noSilencesHint} />;
  return (
    <Table heads={[c.who, c.until, c.by, c.reason]} actions={t.alerts.end}>
      {list.data.items.map((s) => (
        <tr key={s.silence}>
          <td>{[s.alert, s.executor_group, s.job].filter(Boolean).join(" · ") || t.alerts.everything}</td>
          <td className="mut">
            <Ago at={s.until} />
          </td>
          <td>{s.by}</td>
          <td className="sec">{s.reason}</td>
          <td className="r">
            {operates && (
              <Button
                small
                busy={end.isPending && end.variables === s.silence}
                onClick={() => end.mutate(s.silence)}
              >
                {t.alerts.end}
              </Button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
