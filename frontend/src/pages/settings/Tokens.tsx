import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { createToken, revokeToken, tokensKey, tokensQuery } from "@/api/access";
import type { Access, NewToken, Token } from "@/api/schema.gen";
import { meQuery } from "@/api/session";
import { Button } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { Check, TextField } from "@/components/fields";
import { Card, Empty } from "@/components/Panel";
import { Reveal } from "@/components/Reveal";
import { Segments, SegmentsField } from "@/components/Segments";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useMay } from "@/shell/may";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { useSave } from "@/shell/useSave";
import { AccessRows, isWhole, newAccess } from "./AccessRows";
import { AccessTags } from "./AccessTags";

const lives = ["7d", "30d", "90d", "366d"] as const;

/** The tokens by which programs use the API. */
export default function Tokens() {
  const t = usePageT();
  const s = t.settings;
  const isAdmin = useMay()("admin", "*");
  const me = useQuery(meQuery).data;
  const [whose, setWhose] = useState<"mine" | "all">("mine");
  const list = useQuery(tokensQuery(whose === "all"));
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<NewToken>();
  const [revoking, setRevoking] = useState<Token>();
  // Tokens belong to users; whoever is an administrator by being on the machine is none.
  const mayMake = me !== undefined && (me.how !== "local" || isAdmin);
  return (
    <>
      <Card
        title={s.tabs.tokens}
        note={s.tokensHint}
        aside={
          <>
            {isAdmin && (
              <Segments
                label={s.whose}
                value={whose}
                options={[
                  { value: "mine", label: s.mine },
                  { value: "all", label: s.everybodys },
                ]}
                onChange={setWhose}
              />
            )}
            <Button look="primary" icon={Plus} disabled={!mayMake} onClick={() => setMaking(true)}>
              {s.newToken}
            </Button>
          </>
        }
      >
        {!list.data ? (
          <Waiting on={list} rows={3} />
        ) : list.data.items.length === 0 ? (
          <Empty title={s.noTokens} hint={s.noTokensHint} />
        ) : (
          <Table heads={[s.tokenName, s.user, s.access, s.created, s.expires]} actions={s.revoke}>
            {list.data.items.map((token) => (
              <tr key={token.id}>
                <td>
                  <span className="two-lines">
                    <b>{token.name}</b>
                    <span className="mut mono">{token.id}</span>
                  </span>
                </td>
                <td>{token.user}</td>
                <td>
                  <AccessTags access={token.access} />
                  {token.only?.map((scope) => (
                    <span className="tag" key={scope}>
                      {s.only[scope]}
                    </span>
                  ))}
                </td>
                <td className="mut">
                  <Ago at={token.created_at} />
                </td>
                <td className={token.expired ? "c-bad" : "mut"}>
                  <span className="two-lines">
                    <Ago at={token.expires_at} />
                    {token.rests && !token.expired && <span className="c-warn">{s.rests(token.user)}</span>}
                  </span>
                </td>
                <td className="r">
                  <Button small look="danger" onClick={() => setRevoking(token)}>
                    {s.revoke}
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Card>
      {making && (
        <TokenDialog
          local={me?.how === "local"}
          onClose={() => setMaking(false)}
          onMade={(next) => {
            setMaking(false);
            setMade(next);
          }}
        />
      )}
      {made && (
        <Reveal
          title={s.tokenMade(made.token.name)}
          hint={s.tokenMadeHint}
          secret={made.secret}
          expires={made.token.expires_at}
          onClose={() => setMade(undefined)}
        />
      )}
      {revoking && (
        <RemoveDialog
          name={revoking.name}
          title={s.revokeAsk(revoking.name)}
          hint={s.revokeHint}
          verb={s.revoke}
          done={s.revoked(revoking.name)}
          act={() => revokeToken(revoking.id)}
          stale={tokensKey}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  );
}

interface TokenDialogProps {
  /** Whoever asks is no user, so it must be said whose the token is. */
  local: boolean;
  onClose(): void;
  onMade(made: NewToken): void;
}

function TokenDialog({ local, onClose, onMade }: TokenDialogProps) {
  const t = usePageT();
  const s = t.settings;
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [life, setLife] = useState<(typeof lives)[number]>("90d");
  const [narrow, setNarrow] = useState(false);
  const [signals, setSignals] = useState(false);
  const [access, setAccess] = useState<Access[]>([newAccess]);
  const make = useSave({
    act: () =>
      createToken({
        name,
        expires_in: life,
        user: user || undefined,
        access: narrow ? access : undefined,
        only: signals ? ["signal"] : undefined,
      }),
    stale: tokensKey,
    onSaved: onMade,
  });
  return (
    <FormDialog
      title={s.newToken}
      wide
      verb={s.makeToken}
      {...make}
      disabled={name === "" || (local && user === "") || (narrow && !isWhole(access))}
      onClose={onClose}
    >
      <div className="two">
        <TextField label={s.tokenName} value={name} maxLength={100} placeholder="CI" onChange={setName} />
        {local && <TextField label={s.user} value={user} onChange={(v) => setUser(v.trim())} />}
      </div>
      <SegmentsField
        label={s.lives}
        value={life}
        options={lives.map((l) => ({ value: l, label: l }))}
        onChange={setLife}
      />
      <Check label={s.narrow} checked={narrow} onChange={setNarrow} />
      <Check label={s.signalsAlone} checked={signals} onChange={setSignals} />
      {narrow && <AccessRows value={access} onChange={setAccess} />}
    </FormDialog>
  );
}
