import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { deleteSecret, secretsKey, secretsQuery } from "@/api/groups";
import type { Secret } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Card, Empty } from "@/components/Panel";
import { RowActions } from "@/components/RowActions";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { useMay } from "./may";
import { SecretDialog } from "./SecretDialog";

/** So many jobs are named beside a secret; of more there is the number. */
const named = 3;

/** The secrets of a group and the jobs that ask for them. Values are never here. */
export function SecretsCard({ group }: { group: string }) {
  const t = usePageT();
  const s = t.secrets;
  const list = useQuery(secretsQuery(group));
  const mayChange = useMay()("secrets", group);
  const [editing, setEditing] = useState<Secret | "new">();
  const [removing, setRemoving] = useState<Secret>();
  return (
    <Card
      title={s.title}
      note={s.note}
      aside={
        <Button
          small
          icon={Plus}
          disabled={!mayChange}
          title={mayChange ? undefined : t.signIn.needs}
          onClick={() => setEditing("new")}
        >
          {s.create}
        </Button>
      }
    >
      {!list.data ? (
        <Waiting on={list} rows={2} />
      ) : list.data.items.length === 0 ? (
        <Empty icon={KeyRound} title={s.none} hint={s.noneHint} />
      ) : (
        <Table heads={[s.name, s.usedBy, s.updated, s.by]} actions={t.act.more}>
          {list.data.items.map((secret) => (
            <tr key={secret.secret}>
              <td>
                <span className="two-lines">
                  <b className="mono">{secret.secret}</b>
                  <span className="mut trunc">{secret.description}</span>
                </span>
              </td>
              <td>
                <Users jobs={secret.used_by ?? []} />
              </td>
              <td className="mut">
                <Ago at={secret.updated_at} />
              </td>
              <td className="sec">{secret.author}</td>
              <td className="r">
                {mayChange && (
                  <RowActions
                    name={secret.secret}
                    edit={s.replace(secret.secret)}
                    onEdit={() => setEditing(secret)}
                    onRemove={() => setRemoving(secret)}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {editing && (
        <SecretDialog
          group={group}
          secret={editing === "new" ? undefined : editing.secret}
          description={editing === "new" ? undefined : editing.description}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing && (
        <RemoveDialog
          name={removing.secret}
          title={s.remove(removing.secret)}
          hint={s.removeHint(removing.used_by?.length ?? 0)}
          act={() => deleteSecret(group, removing.secret)}
          stale={secretsKey(group)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Card>
  );
}

function Users({ jobs }: { jobs: string[] }) {
  const t = usePageT();
  if (jobs.length === 0) return <span className="mut">{t.secrets.unused}</span>;
  return (
    <span className="row g2 wrap">
      {jobs.slice(0, named).map((job) => (
        <Link key={job} to="/jobs/$group/$name" params={refOf(job)} className="name">
          {job}
        </Link>
      ))}
      {jobs.length > named && <span className="mut">{t.secrets.more(jobs.length - named)}</span>}
    </span>
  );
}
