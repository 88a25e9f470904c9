import { useQuery } from "@tanstack/react-query";
import { BellPlus, Plus } from "lucide-react";
import { useState } from "react";
import { alertsKey, deleteRule, rulesQuery } from "@/api/alerts";
import type { AlertItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Panel";
import { RowActions } from "@/components/RowActions";
import { Table } from "@/components/Table";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useSentence } from "@/lib/sentence";
import { useMay } from "@/shell/may";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { whenInWords } from "./conditions";
import { RuleDialog } from "./RuleDialog";
import { Severity } from "./Severity";

/** What is worth a message, and to whom. */
export default function Rules() {
  const t = usePageT();
  const a = t.alerts;
  const say = useSentence();
  const edits = useMay()("edit", "*");
  const list = useQuery(rulesQuery);
  const [editing, setEditing] = useState<AlertItem | "new">();
  const [removing, setRemoving] = useState<string>();
  const create = edits && (
    <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
      {a.newRule}
    </Button>
  );
  if (!list.data) return <Waiting on={list} />;
  return (
    <>
      {list.data.items.length === 0 ? (
        <Empty icon={BellPlus} title={a.noRules} hint={a.noRulesHint}>
          {create}
        </Empty>
      ) : (
        <>
          {create && (
            <div className="filters">
              <span className="right">{create}</span>
            </div>
          )}
          <Table
            heads={[a.columns.rule, a.columns.when, a.columns.who, a.columns.severity, a.columns.channels]}
            actions={t.act.more}
          >
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
                      <span className="mut trunc">{say({ code: item.about_code, text: r.description })}</span>
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
                      <RowActions
                        name={r.alert}
                        edit={a.editRule(r.alert)}
                        onEdit={() => setEditing(item)}
                        onRemove={() => setRemoving(r.alert)}
                      />
                    )}
                  </td>
                </tr>
              );
            })}
          </Table>
        </>
      )}
      {editing && (
        <RuleDialog item={editing === "new" ? undefined : editing} onClose={() => setEditing(undefined)} />
      )}
      {removing && (
        <RemoveDialog
          name={removing}
          title={a.remove(removing)}
          hint={a.removeRuleHint}
          act={() => deleteRule(removing)}
          stale={alertsKey}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </>
  );
}
