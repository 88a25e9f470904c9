import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import type { Instance } from "@/api/schema.gen";
import { Pips } from "@/components/Pips";
import { InstanceState } from "@/components/Status";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatBytes } from "@/lib/bytes";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { InstanceActions } from "./InstanceActions";
import { refusedFor } from "./refusal";

/** A heartbeat comes every five seconds; an instance without one for fifteen is gone. */
const lateAfter = 8000;

/** The instances of a group, each with what can be done with it. */
export function InstanceTable({ instances }: { instances: Instance[] }) {
  const c = usePageT().fleet.columns;
  const newest = instances
    .map((i) => i.version ?? "")
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .at(-1);
  return (
    <Table
      heads={[c.instance, c.state, c.slots, c.load, c.memory, c.heartbeat, c.uptime, c.zone, c.version]}
      actions={c.actions}
      className="instances"
    >
      {instances.map((i) => (
        <InstanceRow key={i.instance} instance={i} newest={newest} />
      ))}
    </Table>
  );
}

function InstanceRow({ instance: i, newest }: { instance: Instance; newest: string | undefined }) {
  const t = usePageT();
  const { say } = useSayer();
  const now = useNow();
  const late = now - Date.parse(i.at) > lateAfter;
  const up = Math.max(0, now - Date.parse(i.started_at));
  const step = up < 60_000 ? 1000 : 60_000; // so that it does not tick once it is long
  return (
    <tr>
      <td>
        <Link
          to="/executors/$group/$instance"
          params={{ group: i.executor_group, instance: i.instance }}
          className="name"
          title={i.instance}
        >
          {i.instance}
        </Link>{" "}
        <span className="mono mut">{i.host}</span>
      </td>
      <td>
        <InstanceState state={i.state} />
        {i.drain_by && <DrainLeft by={i.drain_by} />}
        {i.reason && <div className="mut">{say(i.reason)}</div>}
        {i.refused ? (
          <div className="c-warn" title={refusedFor(i, say)}>
            {t.fleet.refused(i.refused)}
          </div>
        ) : null}
      </td>
      <td>
        <span className="row g2">
          <Pips used={i.running} slots={i.slots} draining={i.state === "draining"} />
          <span className="num">
            {i.running}/{i.slots}
          </span>
        </span>
      </td>
      <td>
        <Load load={i.load} />
      </td>
      <td>
        <Memory load={i.load} />
      </td>
      <td className={late ? "c-warn" : "sec"}>
        <Ago at={i.at} />
      </td>
      <td className="sec num">{formatDuration(Math.floor(up / step) * step)}</td>
      <td className="sec">{i.zone ?? "—"}</td>
      <td className="mono">
        {i.version !== newest ? (
          <span className="row g1 c-warn" title={t.fleet.behind(newest ?? "")}>
            <TriangleAlert size={13} aria-hidden />
            {i.version ?? "—"}
          </span>
        ) : (
          <span className="sec">{i.version ?? "—"}</span>
        )}
      </td>
      <td className="r">
        <InstanceActions instance={i} />
      </td>
    </tr>
  );
}

/** Until when an instance that drains ends at the latest. */
export function DrainLeft({ by }: { by: string }) {
  const t = usePageT();
  const f = useFormat();
  const left = Math.max(0, Date.parse(by) - useNow());
  const text = formatDuration(
    left < 60_000 ? Math.ceil(left / 1000) * 1000 : Math.ceil(left / 60_000) * 60_000,
  );
  return (
    <div className="mut num" title={f.full(by)}>
      {t.fleet.drainLeft(text)}
    </div>
  );
}

/** How many processes want a CPU, of the CPUs that there are. */
export function Load({ load }: { load: Instance["load"] }) {
  const t = usePageT();
  if (!load?.cpus) return <span className="mut">—</span>;
  const text = load.load1.toFixed(1);
  return <Meter share={load.load1 / load.cpus} text={text} title={t.fleet.loadOn(text, load.cpus)} />;
}

export function Memory({ load }: { load: Instance["load"] }) {
  const t = usePageT();
  const { memory_bytes: all, memory_used_bytes: used } = load ?? {};
  if (!all || used === undefined) return <span className="mut">—</span>;
  const share = used / all;
  const text = `${Math.round(share * 100)}%`;
  return <Meter share={share} text={text} title={t.fleet.memoryOf(formatBytes(used), formatBytes(all))} />;
}

function Meter({ share, text, title }: { share: number; text: string; title: string }) {
  return (
    <span className="row g2" title={title}>
      <span className="bar dur" aria-hidden>
        <i
          className={share > 0.9 ? "b-warn" : "b-idle"}
          style={{ width: `${Math.min(100, share * 100)}%` }}
        />
      </span>
      <span className="num">{text}</span>
    </span>
  );
}
