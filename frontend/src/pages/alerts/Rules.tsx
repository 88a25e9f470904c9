import { useQuery, useQueryClient } from "@tanstack/react-query";
import { BellPlus, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { alertsKey, deleteRule, rulesQuery } from "@/api/alerts";
import type { AlertItem } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { AskDialog } from "@/shell/AskDialog";
import { useMay } from "@/shell/may";
import { whenInWords } from "./conditions";
import { RuleDialog } from "./RuleDialog";
import { Severity } from "./Severity";
import { useAlertT } from "./texts";

/** What is worth a message, and to whom. */
export default function Rules() {
  const t = useAlertT();
  const a = t.alerts;
  const edits = useMay()("edit", "*");
  const client = useQueryClient();
  const list = useQuery(rulesQuery);
  const [editing, setEditing] = useState<AlertItem | "new">();
  const [removing, setRemoving] = useState<string>();
  const create = edits && (
    <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
      {a.newRule}
    </Button>
  );
  if (list.isError) return <Failed error={list.error} onRetry={() => void list.refetch()} />;
  if (!list.data) return <Skeleton />;
  return (
    <>
      {list.data.items.length === 0 ? (
        <Empty icon={BellPlus} title={a.noRules} hint={a.noRulesHint}>
          {create}
        </Empty>
      ) : (
        <>
          <div className="filters">
            <span className="right">{create}</span>
          </div>
          <div className="sideways">
            <table className="tbl">
              <thead>
                <tr>
                  <th>{a.columns.rule}</th>
                  <th>{a.columns.when}</th>
                  <th>{a.columns.who}</th>
                  <th>{a.columns.severity}</th>
                  <th>{a.columns.channels}</th>
                  <th className="r">
                    <span className="sr">{t.act.more}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {list.data.items.map((item) => {
                  const r = item.definition;
                  const match = [...(r.match?.groups ?? []), ...(r.match?.jobs ?? [])];
                  return (
                    <tr key={r.alert}>
                      <td>
                        <span className="two-lines">
                          <b>
                            {r.alert} {r.disabled && <span className="tag">{a.off}</span>}
                          </b>
                          <span className="mut trunc">{r.description}</span>
                        </span>
                      </td>
                      <td>{whenInWords(r.when, t)}</td>
                      <td className="sec">{match.join(", ") || a.everything}</td>
                      <td>
                        <Severity of={r.severity ?? "warning"} />
                      </td>
                      <td>
                        {r.channels?.map((c) => (
                          <span key={c} className="tag">
                            {c}
                          </span>
                        ))}
                      </td>
                      <td className="r">
                        {edits && (
                          <>
                            <IconButton
                              icon={Pencil}
                              size={14}
                              label={a.editRule(r.alert)}
                              onClick={() => setEditing(item)}
                            />
                            <IconButton
                              icon={Trash2}
                              size={14}
                              label={`${t.act.remove}: ${r.alert}`}
                              onClick={() => setRemoving(r.alert)}
                            />
                          </>
                        )}
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </div>
        </>
      )}
      {editing && (
        <RuleDialog item={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} />
      )}
      {removing && (
        <AskDialog
          title={a.remove(removing)}
          hint={a.removeRuleHint}
          verb={t.act.remove}
          done={t.done.deleted(removing)}
          act={() => deleteRule(removing)}
          onDone={() => void client.invalidateQueries({ queryKey: alertsKey })}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  );
}
