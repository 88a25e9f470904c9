import { useQuery } from "@tanstack/react-query";
import type { Bus } from "@/api/cluster";
import { historyQuery } from "@/api/retention";
import type { NodeList } from "@/api/schema.gen";
import { Kpi } from "@/components/Kpi";
import { Clock } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatBytes } from "@/lib/bytes";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";

/** A history that is so little behind is up to date: it is written in batches. */
const settled = 5000;

/** How it stands in five figures. */
export function Figures({ nodes, bus }: { nodes: NodeList | undefined; bus: Bus | undefined }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const history = useQuery(historyQuery).data;
  const behind = history ? now - Date.parse(history.as_of) : 0;
  const triggers = bus?.consumers.filter((c) => c.executor_group) ?? [];
  const sum = (of: (c: (typeof triggers)[number]) => number) => triggers.reduce((n, c) => n + of(c), 0);
  const unowned = nodes?.unowned.length ?? 0;
  return (
    <div className="kpis">
      <Kpi
        label={t.bus.owned}
        value={nodes ? f.number(nodes.shards - unowned) : "—"}
        unit={nodes && ` / ${f.number(nodes.shards)}`}
        bad={unowned > 0}
        foot={nodes && (unowned > 0 ? t.bus.someUnowned(unowned) : t.bus.noneUnowned)}
      />
      <Kpi
        label={t.bus.durability}
        fit
        value={bus ? (t.bus.durabilities[bus.durability] ?? bus.durability) : "—"}
        unit={bus && bus.replicas > 1 ? t.bus.copies(bus.replicas) : undefined}
        bad={bus?.durability === "degraded"}
        foot={bus && t.bus.durable[bus.durability]}
      />
      <Kpi
        label={t.bus.stored}
        value={bus ? formatBytes(bus.bytes) : "—"}
        foot={bus && (bus.max_bytes ? t.bus.ofMost(formatBytes(bus.max_bytes)) : t.bus.server(bus.server))}
      />
      <Kpi
        label={t.bus.waitingAll}
        value={bus ? f.number(sum((c) => c.waiting)) : "—"}
        foot={bus && t.bus.unacknowledgedAll(f.number(sum((c) => c.unacknowledged)))}
      />
      <Kpi
        label={t.bus.lag}
        fit
        value={!history ? "—" : behind < settled ? t.bus.upToDate : formatDuration(behind - (behind % 1000))}
        bad={history && !history.store_answers}
        foot={
          history && (
            <span>
              {t.bus.asOf} <Clock at={history.as_of} />
            </span>
          )
        }
      />
    </div>
  );
}
