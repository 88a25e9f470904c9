import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CirclePause, CircleX } from "lucide-react";
import { useState } from "react";
import { healthQuery, holdQuery, nodesQuery, setHold, versionQuery } from "@/api/cluster";
import type { Node } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { TextField } from "@/components/fields";
import { Card } from "@/components/Panel";
import { PauseEndField } from "@/components/PauseEndField";
import { ShareBar } from "@/components/ShareBar";
import { Mark } from "@/components/Status";
import { Table } from "@/components/Table";
import { GroupDot } from "@/components/TaskIcon";
import { Waiting } from "@/components/Waiting";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";
import { AskDialog } from "@/shell/AskDialog";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";

/** What keeps everything firing: nodes and their shards, the parts of the system, and the switch for all of it. */
export default function ClusterPage() {
  const { t } = useWords();
  const nodes = useQuery(nodesQuery);
  const health = useQuery(healthQuery).data;
  const version = useQuery(versionQuery).data;
  return (
    <Page crumbs={[{ text: t.cluster.title }]}>
      <div className="pad split-page">
        <div className="grid">
          {nodes.data ? (
            <>
              <Card
                title={t.cluster.nodes}
                note={t.health.shards(nodes.data.shards - nodes.data.unowned.length, nodes.data.shards)}
              >
                <Table
                  heads={[
                    t.cluster.node,
                    t.cluster.shardsOwned,
                    t.cluster.version,
                    t.cluster.host,
                    t.cluster.uptime,
                  ]}
                >
                  {nodes.data.items.map((n) => (
                    <NodeRow key={n.node} node={n} shards={nodes.data.shards} />
                  ))}
                </Table>
              </Card>
              <Card title={t.cluster.shards}>
                <Shards nodes={nodes.data.items} shards={nodes.data.shards} />
              </Card>
            </>
          ) : (
            <Waiting on={nodes} />
          )}
        </div>
        <div className="grid">
          <Switch />
          <Card title={t.cluster.parts}>
            <ul className="parts b">
              {health?.checks.map((c) => (
                <li key={c.name} className="row g2">
                  <span>{t.health.part(c.name)}</span>
                  <span className="right">
                    <Mark tone={c.ok ? "ok" : "bad"} icon={c.ok ? CircleCheck : CircleX}>
                      {c.ok ? t.cluster.answers : t.cluster.doesNot}
                    </Mark>
                  </span>
                </li>
              ))}
            </ul>
          </Card>
          <Card title={t.cluster.server}>
            <dl className="dl b">
              <dt>{t.cluster.version}</dt>
              <dd className="mono">{version?.version ?? "—"}</dd>
              <dt>{t.cluster.go}</dt>
              <dd className="mono">{version?.go ?? "—"}</dd>
            </dl>
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** What a node says of itself. Nodes of another version may say other things. */
function infoOf(node: Node): { version?: string; host?: string; started?: number } {
  const info: unknown = node.info;
  if (typeof info !== "object" || info === null) return {};
  const text = (key: string) => {
    const value = (info as Record<string, unknown>)[key];
    return typeof value === "string" ? value : undefined;
  };
  const started = text("started_at");
  return { version: text("version"), host: text("host"), started: started ? Date.parse(started) : undefined };
}

function NodeRow({ node, shards }: { node: Node; shards: number }) {
  const now = useNow();
  const { version, host, started } = infoOf(node);
  return (
    <tr>
      <td>
        <span className="row g2">
          <GroupDot group={node.node} />
          <b className="name">{node.node}</b>
        </span>
      </td>
      <td>
        <span className="row g2">
          <ShareBar share={node.shards.length / shards} />
          <span className="num">{node.shards.length}</span>
        </span>
      </td>
      <td className="mono sec">{version ?? "—"}</td>
      <td className="sec">{host ?? "—"}</td>
      <td className="sec num">
        {started === undefined ? "—" : formatDuration(Math.max(0, Math.floor((now - started) / 1000) * 1000))}
      </td>
    </tr>
  );
}

function Shards({ nodes, shards }: { nodes: Node[]; shards: number }) {
  const { t } = useWords();
  const owner = new Map(nodes.flatMap((n) => n.shards.map((s) => [s, n.node] as const)));
  return (
    <div className="shards b">
      {Array.from({ length: shards }, (_, n) => {
        const who = owner.get(n);
        const text = t.cluster.shard(n, who ?? t.cluster.unowned);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a shard is its number
          <span key={n} className={who ? "shard" : "shard none"} title={text} role="img" aria-label={text}>
            {who && <GroupDot group={who} />}
            <span className="num">{n}</span>
          </span>
        );
      })}
    </div>
  );
}

/** The switch for everything. */
function Switch() {
  const { t, f } = useWords();
  const now = useNow();
  const client = useQueryClient();
  const complain = useComplain();
  const operates = useMay()("operate", "*");
  const hold = useQuery(holdQuery).data;
  const [asking, setAsking] = useState(false);
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const until = endOf(end, now, f.zone);
  const changed = () => {
    setNote("");
    setEnd(noEnd);
    void client.invalidateQueries();
  };
  const resume = useMutation({ mutationFn: () => setHold(false, ""), onError: complain, onSuccess: changed });
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
            <Button
              look="primary"
              disabled={!operates}
              busy={resume.isPending}
              onClick={() => resume.mutate()}
            >
              {t.cluster.resumeAll}
            </Button>
          </>
        ) : (
          <>
            <Mark tone="ok" icon={CircleCheck}>
              {t.cluster.running}
            </Mark>
            <Button look="danger" icon={CirclePause} disabled={!operates} onClick={() => setAsking(true)}>
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
          act={() => setHold(true, note, until === undefined ? undefined : new Date(until).toISOString())}
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
