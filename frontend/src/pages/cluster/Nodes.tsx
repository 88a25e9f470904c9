import type { Node, NodeList } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Table } from "@/components/Table";
import { GroupDot } from "@/components/TaskIcon";
import { Clock } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useNow } from "@/lib/now";

/** The scheduler nodes, with what each has and does for all. */
export function Nodes({ list }: { list: NodeList }) {
  const t = usePageT();
  return (
    <Card title={t.cluster.nodes} note={t.health.shards(list.shards - list.unowned.length, list.shards)}>
      <Table
        heads={[
          t.cluster.node,
          t.cluster.shardsOwned,
          t.bus.does,
          t.cluster.version,
          t.cluster.host,
          t.cluster.uptime,
        ]}
      >
        {list.items.map((n) => (
          <NodeRow
            key={n.node}
            node={n}
            shards={list.shards}
            roles={list.roles.filter((r) => r.node === n.node).map((r) => r.role)}
          />
        ))}
      </Table>
    </Card>
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

function NodeRow({ node, shards, roles }: { node: Node; shards: number; roles: string[] }) {
  const t = usePageT();
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
      <td className="sec">{roles.map((role) => t.bus.role(role)).join(", ") || "—"}</td>
      <td className="mono sec">{version ?? "—"}</td>
      <td className="sec">{host ?? "—"}</td>
      <td className="sec num">
        {started === undefined ? "—" : formatDuration(Math.max(0, Math.floor((now - started) / 1000) * 1000))}
      </td>
    </tr>
  );
}

/** How long a move is new. */
const fresh = 60_000;

/** Which node has which shard: those that nobody has or that came within a minute, and the others folded by node. */
export function Shards({ list }: { list: NodeList }) {
  const t = usePageT();
  const now = useNow();
  const owner = new Map(list.items.flatMap((n) => n.shards.map((s) => [s, n.node] as const)));
  const moved = new Map(list.moves.map((m) => [m.shard, Date.parse(m.at)]));
  const isNew = (n: number) => now - (moved.get(n) ?? 0) < fresh;
  const all = Array.from({ length: list.shards }, (_, n) => n);
  const chip = (n: number) => {
    const who = owner.get(n);
    const text = t.cluster.shard(n, who ?? t.cluster.unowned);
    return (
      <span
        key={n}
        className={who ? (isNew(n) ? "shard new" : "shard") : "shard none"}
        title={text}
        role="img"
        aria-label={text}
      >
        {who && <GroupDot group={who} />}
        <span className="num">{n}</span>
      </span>
    );
  };
  const notable = all.filter((n) => !owner.has(n) || isNew(n));
  return (
    <Card title={t.cluster.shards}>
      <div className="b shardlists">
        {notable.length > 0 && <div className="shards">{notable.map(chip)}</div>}
        {list.items.map(({ node }) => {
          const own = all.filter((n) => owner.get(n) === node && !isNew(n));
          return (
            own.length > 0 && (
              <details key={node}>
                <summary>
                  <GroupDot group={node} /> {t.cluster.shardsOf(node, own.length)}
                </summary>
                <div className="shards">{own.map(chip)}</div>
              </details>
            )
          );
        })}
      </div>
    </Card>
  );
}

/** So many moves are listed; shards that came to the same node at the same time are one. */
const shownMoves = 6;

/** How far apart the shards of one move may come. */
const together = 10_000;

/** When shards last came to a node, the newest first. */
export function Moves({ list }: { list: NodeList }) {
  const t = usePageT();
  const moves: { node: string; at: number; shards: number[] }[] = [];
  for (const m of list.moves) {
    const at = Date.parse(m.at);
    const same = moves.find((x) => x.node === m.node && x.at - at < together);
    if (same) same.shards.push(m.shard);
    else moves.push({ node: m.node, at, shards: [m.shard] });
  }
  return (
    <Card title={t.bus.moves} note={t.bus.movesNote}>
      <ul className="moves b">
        {moves.slice(0, shownMoves).map((m) => (
          <li key={`${m.node} ${m.at}`} className="row g2">
            <GroupDot group={m.node} />
            <span className="grow">
              {m.shards.length === 1
                ? t.bus.moved(m.shards[0] ?? 0, m.node)
                : t.bus.movedSome(m.shards.length, m.node)}
            </span>
            <Clock at={m.at} className="mut num" />
          </li>
        ))}
      </ul>
    </Card>
  );
}
