import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { deleteSecret, secretsKey, secretsQuery } from "@/api/groups";
import { refOf } from "@/api/jobs";
import type { Secret } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Card, Empty, Failed, Skeleton } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { usePage } from "@/i18n";
import { secrets as en } from "@/i18n/en/secrets";
import { secrets as zh } from "@/i18n/zh/secrets";
import { AskDialog } from "./AskDialog";
import { useMay } from "./may";
import { SecretDialog } from "./SecretDialog";

const texts = { en: { secrets: en }, zh: { secrets: zh } };

/** So many jobs are named beside a secret; of more there is the number. */
const named = 3;

/** The secrets of a group and the jobs that ask for them. Values are never here. */
export function SecretsCard({ group }: { group: string }) {
  const t = usePage(texts);
  const s = t.secrets;
  const client = useQueryClient();
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
      {list.isError ? (
        <Failed error={list.error} onRetry={() => void list.refetch()} />
      ) : !list.data ? (
        <Skeleton rows={2} />
      ) : list.data.items.length === 0 ? (
        <Empty icon={KeyRound} title={s.none} hint={s.noneHint} />
      ) : (
        <div className="sideways">
          <table className="tbl">
            <thead>
              <tr>
                <th>{s.name}</th>
                <th>{s.usedBy}</th>
                <th>{s.updated}</th>
                <th>{s.by}</th>
                <th className="r">
                  <span className="sr">{t.act.more}</span>
                </th>
              </tr>
            </thead>
            <tbody>
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
                      <>
                        <IconButton
                          icon={Pencil}
                          size={14}
                          label={s.replace(secret.secret)}
                          onClick={() => setEditing(secret)}
                        />
                        <IconButton
                          icon={Trash2}
                          size={14}
                          label={`${t.act.remove}: ${secret.secret}`}
                          onClick={() => setRemoving(secret)}
                        />
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
        <AskDialog
          title={s.remove(removing.secret)}
          hint={s.removeHint(removing.used_by?.length ?? 0)}
          verb={t.act.remove}
          done={t.done.deleted(removing.secret)}
          act={() => deleteSecret(group, removing.secret)}
          onDone={() => void client.invalidateQueries({ queryKey: secretsKey(group) })}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Card>
  );
}

function Users({ jobs }: { jobs: string[] }) {
  const t = usePage(texts);
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
