import { type UseQueryResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { Plus, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { createPingToken, pingTokensKey, revokePingToken } from "@/api/pings";
import type { Job, NewPingToken, PingToken, PingTokenList } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Reveal } from "@/components/Reveal";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { AskDialog } from "@/shell/AskDialog";
import { useComplain } from "@/shell/actions";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { Lines } from "./Lines";
import { whereOf } from "./paste";

/** The tokens by which runs of the job are reported. The secret of a new one is shown once. */
export function PingTokens({ job, list }: { job: Job; list: UseQueryResult<PingTokenList> }) {
  const t = usePageT();
  const w = t.pings;
  const ref = refOf(job.job);
  const client = useQueryClient();
  const [made, setMade] = useState<NewPingToken>();
  const [rotating, setRotating] = useState(false);
  const [revoking, setRevoking] = useState<PingToken>();
  const created = (token: NewPingToken) => {
    setMade(token);
    void client.invalidateQueries({ queryKey: pingTokensKey(ref) });
  };
  const onError = useComplain();
  const create = useMutation({
    mutationFn: () => createPingToken(ref, false),
    onError,
    onSuccess: created,
  });
  if (!list.data) return <Waiting on={list} rows={2} />;
  const { items, refused } = list.data;
  return (
    <section aria-label={w.tokens}>
      <div className="row g2 wrap">
        <h3>{w.tokens}</h3>
        <span className="right row g2">
          {items.length > 0 && (
            <Button small icon={RotateCw} onClick={() => setRotating(true)}>
              {w.rotate}
            </Button>
          )}
          <Button
            small
            look={items.length === 0 ? "primary" : undefined}
            icon={Plus}
            busy={create.isPending}
            onClick={() => create.mutate()}
          >
            {w.create}
          </Button>
        </span>
      </div>
      {items.length === 0 ? (
        <p className="hint">{w.noTokens}</p>
      ) : (
        <Table heads={[w.token, w.by, w.lastUsed, w.lastHost, w.ends]} actions={w.revoke} compact>
          {items.map((token) => (
            <tr key={token.id}>
              <td className="mono">{token.id}</td>
              <td>
                {token.by}{" "}
                <span className="mut">
                  <Ago at={token.created_at} />
                </span>
              </td>
              <td>
                {token.last_used_at ? (
                  <Ago at={token.last_used_at} />
                ) : (
                  <span className="mut">{w.unused}</span>
                )}
              </td>
              <td className="mono">{token.last_host ?? "—"}</td>
              <td>
                {token.ends_at ? <Ago at={token.ends_at} /> : <span className="mut">{w.noEndSet}</span>}
              </td>
              <td className="r">
                <IconButton
                  icon={Trash2}
                  size={14}
                  label={`${w.revoke}: ${token.id}`}
                  onClick={() => setRevoking(token)}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {refused.too_many + refused.method > 0 && (
        <p className="hint c-warn">{w.refused(refused.too_many, refused.method)}</p>
      )}
      {rotating && (
        <AskDialog
          title={w.rotateAsk}
          hint={w.rotateHint}
          verb={w.rotate}
          mild
          act={() => createPingToken(ref, true)}
          onDone={created}
          onClose={() => setRotating(false)}
        />
      )}
      {made && (
        <Reveal title={w.made} hint={w.madeHint} secret={made.url} onClose={() => setMade(undefined)}>
          {made.url_from_request && <p className="note warn">{w.localURL}</p>}
          <Lines job={job} where={whereOf(made.url)} />
        </Reveal>
      )}
      {revoking && (
        <RemoveDialog
          name={revoking.id}
          title={w.revokeAsk(revoking.id)}
          hint={w.revokeHint}
          verb={w.revoke}
          done={w.revoked(revoking.id)}
          act={() => revokePingToken(ref, revoking.id)}
          stale={pingTokensKey(ref)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </section>
  );
}
