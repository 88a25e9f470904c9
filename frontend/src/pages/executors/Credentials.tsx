import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Plus, RotateCw } from "lucide-react";
import { useState } from "react";
import {
  createCredential,
  credentialsKey,
  credentialsQuery,
  revokeCredential,
  rotateCredential,
} from "@/api/groups";
import type { Credential, NewCredential } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { Card, Empty } from "@/components/Panel";
import { Reveal } from "@/components/Reveal";
import { SegmentsField } from "@/components/Segments";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { AskDialog } from "@/shell/AskDialog";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { useSave } from "@/shell/useSave";
import { StartCommand } from "./StartCommand";

const lives = ["", "30d", "90d", "365d"] as const;
const overlaps = ["0s", "1h", "24h", "168h"] as const;

/** The credentials with which a group's executors connect: made, shown once, rotated, revoked. */
export function Credentials({ group }: { group: string }) {
  const t = usePageT();
  const client = useQueryClient();
  const list = useQuery(credentialsQuery(group));
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewCredential>();
  const [rotating, setRotating] = useState<Credential>();
  const [revoking, setRevoking] = useState<Credential>();
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]>("24h");
  const reload = () => void client.invalidateQueries({ queryKey: credentialsKey(group) });
  const show = (next: NewCredential) => {
    reload();
    setMade(next);
  };
  return (
    <Card
      title={t.fleet.credentials}
      note={t.fleet.credentialsHint}
      aside={
        <Button small icon={Plus} onClick={() => setMaking(true)}>
          {t.fleet.newCredential}
        </Button>
      }
    >
      {!list.data ? (
        <Waiting on={list} rows={2} />
      ) : list.data.items.length === 0 ? (
        <Empty icon={KeyRound} title={t.fleet.noCredentials} hint={t.fleet.noCredentialsHint} />
      ) : (
        <Table
          heads={[t.fleet.credentialName, t.fleet.made, t.fleet.by, t.fleet.until]}
          actions={t.fleet.columns.actions}
        >
          {list.data.items.map((c) => (
            <tr key={c.id}>
              <td>
                <span className="two-lines">
                  <b>{c.name}</b>
                  <span className="mut mono">
                    {c.id} {c.replaces && t.fleet.replaces(c.replaces)}
                  </span>
                </span>
              </td>
              <td className="mut">
                <Ago at={c.created_at} />
              </td>
              <td className="sec">{c.author}</td>
              <td className={c.expired ? "c-bad" : "mut"}>
                {c.expires_at ? <Ago at={c.expires_at} /> : t.fleet.forever}
              </td>
              <td className="r">
                <span className="row g2 end">
                  {!c.expired && (
                    <Button small icon={RotateCw} onClick={() => setRotating(c)}>
                      {t.fleet.rotate}
                    </Button>
                  )}
                  <Button small look="danger" onClick={() => setRevoking(c)}>
                    {t.fleet.revoke}
                  </Button>
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {making && <CreateDialog group={group} onMade={show} onClose={() => setMaking(false)} />}
      {rotating && (
        <AskDialog
          title={t.fleet.rotateAsk(rotating.name)}
          hint={t.fleet.rotateHint}
          verb={t.fleet.rotate}
          mild
          act={() => rotateCredential(group, rotating.id, overlap)}
          onDone={show}
          onClose={() => setRotating(undefined)}
        >
          <SegmentsField
            label={t.fleet.overlap}
            value={overlap}
            options={overlaps.map((o) => ({ value: o, label: t.fleet.overlaps[o] }))}
            onChange={setOverlap}
          />
        </AskDialog>
      )}
      {revoking && (
        <RemoveDialog
          name={revoking.name}
          title={t.fleet.revokeAsk(revoking.name)}
          hint={t.fleet.revokeHint}
          verb={t.fleet.revoke}
          done={t.fleet.revoked(revoking.name)}
          act={() => revokeCredential(group, revoking.id)}
          stale={credentialsKey(group)}
          onClose={() => setRevoking(undefined)}
        />
      )}
      {made && (
        <Reveal
          title={t.fleet.credentialMade(made.credential.name)}
          hint={t.fleet.credentialMadeHint}
          secret={made.seed}
          expires={made.credential.expires_at}
          onClose={() => setMade(undefined)}
        >
          <StartCommand group={group} credential={`${group}.seed`} />
        </Reveal>
      )}
    </Card>
  );
}

interface CreateDialogProps {
  group: string;
  onMade(made: NewCredential): void;
  onClose(): void;
}

function CreateDialog({ group, onMade, onClose }: CreateDialogProps) {
  const t = usePageT();
  const [name, setName] = useState("");
  const [life, setLife] = useState<(typeof lives)[number]>("");
  const make = useSave({
    act: () => createCredential(group, name, life || undefined),
    stale: credentialsKey(group),
    onSaved: (made) => {
      onClose();
      onMade(made);
    },
  });
  return (
    <FormDialog
      title={t.fleet.newCredential}
      hint={t.fleet.noCredentialsHint}
      verb={t.fleet.make}
      {...make}
      disabled={name.trim() === ""}
      onClose={onClose}
    >
      <TextField
        label={t.fleet.credentialName}
        value={name}
        maxLength={100}
        placeholder="web1"
        onChange={setName}
      />
      <SegmentsField
        label={t.fleet.lives}
        value={life}
        options={lives.map((l) => ({ value: l, label: l || t.fleet.forever }))}
        onChange={setLife}
      />
    </FormDialog>
  );
}
