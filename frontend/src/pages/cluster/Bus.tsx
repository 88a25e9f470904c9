import { TriangleAlert } from "lucide-react";
import type { Bus } from "@/api/cluster";
import type { ConsumerState, Kept, StreamState } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Spark } from "@/components/Spark";
import { Mark } from "@/components/Status";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatBytes } from "@/lib/bytes";
import { useFormat } from "@/lib/format";

/** The streams, the buckets that executors write, which have a bound, and those of which a copy is not whole. */
export function Streams({ bus }: { bus: Bus }) {
  const t = usePageT();
  const buckets = bus.streams.filter((s) => s.bucket && !s.behind && s.max_bytes === undefined);
  const shown = bus.streams.filter((s) => !buckets.includes(s));
  return (
    <Card
      title={t.bus.streams}
      note={t.bus.streamsNote(buckets.length, formatBytes(buckets.reduce((n, s) => n + s.bytes, 0)))}
    >
      <Table
        heads={[
          t.bus.stream,
          { right: t.bus.messages },
          t.bus.rate,
          t.bus.size,
          t.bus.oldest,
          t.bus.copiesHead,
        ]}
        className="streams"
      >
        {shown.map((s) => (
          <StreamRow key={s.stream} stream={s} rates={bus.rates.get(s.stream) ?? []} />
        ))}
      </Table>
    </Card>
  );
}

function StreamRow({ stream: s, rates }: { stream: StreamState; rates: number[] }) {
  const t = usePageT();
  const f = useFormat();
  const rate = rates.at(-1);
  const full = s.refuses ? t.bus.refuses : t.bus.dropsOldest;
  const most = s.max_bytes === undefined ? undefined : `${t.bus.ofMost(formatBytes(s.max_bytes))}. ${full}.`;
  return (
    <tr>
      <td>
        <span className="two-lines">
          <b className="name">{s.stream}</b>
          <span className="mut">{t.bus.purposes[s.stream.replace(/\d+$/, "")] ?? s.description}</span>
        </span>
      </td>
      <td className="r num">{f.number(s.messages)}</td>
      <td>
        <span className="row g2 rate">
          <span className="num">{rate === undefined ? "—" : f.number(Math.round(rate * 10) / 10)}</span>
          <Spark values={rates} tone="accent" />
        </span>
      </td>
      <td title={most}>
        <span className="row g2">
          {s.max_bytes !== undefined && <ShareBar share={Math.min(1, s.bytes / s.max_bytes)} />}
          <span className="num">{formatBytes(s.bytes)}</span>
        </span>
      </td>
      <td className="sec">{s.oldest_at ? <Ago at={s.oldest_at} /> : "—"}</td>
      <td className="num">
        {s.behind ? (
          <Mark tone="bad" icon={TriangleAlert}>
            {s.replicas} · {t.bus.behind(s.behind.join(", "))}
          </Mark>
        ) : (
          s.replicas
        )}
      </td>
    </tr>
  );
}

/** What executor groups keep in the buckets that executors write. */
export function Keepers({ list }: { list: Kept[] }) {
  const t = usePageT();
  const f = useFormat();
  if (list.length === 0) {
    return null;
  }
  return (
    <Card title={t.bus.kept} note={t.bus.keptNote}>
      <Table
        heads={[
          t.bus.group,
          t.bus.bucket,
          { right: t.bus.keys },
          { right: t.bus.maxKeys },
          { right: t.bus.size },
          { right: t.bus.unreadable },
        ]}
      >
        {list.map((k) => (
          <tr key={`${k.executor_group} ${k.bucket}`}>
            <td>
              <b className="name">{k.executor_group}</b>
            </td>
            <td className="sec">{t.bus.purposes[k.bucket] ?? k.bucket}</td>
            <td className={k.keys > k.max_keys ? "r num c-warn" : "r num"}>{f.number(k.keys)}</td>
            <td className="r num">{f.number(k.max_keys)}</td>
            <td className="r num">
              {k.max_bytes ? `${formatBytes(k.bytes ?? 0)} / ${formatBytes(k.max_bytes)}` : ""}
            </td>
            <td className={k.unreadable ? "r num c-warn" : "r num"}>
              {k.unreadable ? f.number(k.unreadable) : ""}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

/** Who takes from the streams. */
export function Consumers({ list }: { list: ConsumerState[] }) {
  const t = usePageT();
  const f = useFormat();
  return (
    <Card title={t.bus.consumers}>
      <Table
        heads={[
          t.bus.consumer,
          t.bus.stream,
          { right: t.bus.waiting },
          { right: t.bus.unacknowledged },
          <th key="again" className="r" title={t.bus.redeliveredHint}>
            {t.bus.redelivered}
          </th>,
        ]}
      >
        {list.map((c) => (
          <tr key={`${c.stream} ${c.consumer}`}>
            <td>
              <span className="two-lines">
                <b className="name">{c.consumer}</b>
                <span className="mut">
                  {c.executor_group
                    ? t.bus.readers[c.consumer.slice(0, c.consumer.indexOf("-"))]?.(c.executor_group)
                    : c.ephemeral
                      ? t.bus.follows
                      : t.bus.toHistory}
                </span>
              </span>
            </td>
            <td className="sec mono">{c.stream}</td>
            <td className="r num">{f.number(c.waiting)}</td>
            <td className="r num">{f.number(c.unacknowledged)}</td>
            <td className={c.redelivered > 0 ? "r num c-warn" : "r num"}>{f.number(c.redelivered)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
