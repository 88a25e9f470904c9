import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX, Server } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import type { Group, Instance } from "@/api/schema.gen";
import { CopyIconButton } from "@/components/Copy";
import { FilterField } from "@/components/FilterField";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { Pips } from "@/components/Pips";
import { InstanceState } from "@/components/Status";
import { GroupDot } from "@/components/TaskIcon";
import { Ago } from "@/components/Time";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Page } from "@/shell/Page";

/** A heartbeat comes every five seconds; an instance without one for fifteen is gone. */
const lateAfter = 8000;

/** The programs that do the work, by group, with what each is doing. */
export default function ExecutorsPage() {
  const { t, f } = useWords();
  const navigate = useNavigate({ from: "/executors" });
  const { q = "" } = useSearch({ from: "/executors" });
  const query = useQuery(groupsQuery);
  const groups = query.data?.items ?? [];
  const look = q.trim().toLowerCase();
  const shown = groups
    .map((g) =>
      look === "" || g.executor_group.includes(look)
        ? g
        : { ...g, instances: g.instances.filter((i) => has(i, look)) },
    )
    .filter((g) => look === "" || g.executor_group.includes(look) || g.instances.length > 0)
    .sort((a, b) => rank(a) - rank(b) || a.executor_group.localeCompare(b.executor_group));
  const all = groups.flatMap((g) => g.instances);
  const online = all.filter((i) => i.state === "online").length;
  const slots = sum(all.map((i) => i.slots));
  const used = sum(all.map((i) => i.running));
  const empty = groups.filter((g) => g.state === "empty").length;
  const versions = new Set(all.map((i) => i.version ?? ""));
  return (
    <Page
      crumbs={[{ text: t.executors.title }]}
      actions={
        <FilterField
          value={q}
          placeholder={t.executors.filter}
          onChange={(text) => void navigate({ search: { q: text || undefined }, replace: true })}
        />
      }
    >
      <div className="pad">
        {query.isError && !query.data ? (
          <Failed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <Skeleton />
        ) : groups.length === 0 ? (
          <Connect group="default" />
        ) : (
          <>
            <div className="kpis four">
              <Figure
                label={t.executors.online}
                value={f.number(online)}
                unit={` / ${all.length}`}
                foot={`${all.length - online} ${t.executors.draining}`}
              />
              <Figure
                label={t.executors.slotsUsed}
                value={f.number(used)}
                unit={` / ${f.number(slots)}`}
                foot={slots === 0 ? "—" : f.percent(used / slots)}
              />
              <Figure
                label={t.executors.groups}
                value={f.number(groups.length)}
                foot={
                  empty > 0 ? (
                    <span className="c-lost">{t.executors.emptyGroups(empty)}</span>
                  ) : (
                    t.executors.allServed
                  )
                }
              />
              <Figure
                label={t.executors.versions}
                value={f.number(versions.size)}
                foot={
                  versions.size > 1 ? (
                    <span className="c-warn">{t.executors.manyVersions}</span>
                  ) : (
                    t.executors.oneVersion
                  )
                }
              />
            </div>
            {shown.length === 0 && <Empty icon={SearchX} title={t.executors.noMatch} />}
            <div className="grid">
              {shown.map((g) => (
                <GroupCard key={g.executor_group} group={g} />
              ))}
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

const sum = (ns: number[]) => ns.reduce((a, b) => a + b, 0);
const rank = (g: Group) => ({ empty: 0, draining: 1, online: 2 })[g.state];
const has = (i: Instance, look: string) =>
  [i.instance, i.host, i.version, i.sdk, ...(i.handlers ?? [])].some((x) => x?.toLowerCase().includes(look));

function Figure({
  label,
  value,
  unit,
  foot,
}: {
  label: string;
  value: string;
  unit?: string;
  foot: React.ReactNode;
}) {
  return (
    <div className="kpi">
      <span className="l">{label}</span>
      <span className="v">
        {value}
        {unit && <small>{unit}</small>}
      </span>
      <span className="f">{foot}</span>
    </div>
  );
}

function GroupCard({ group }: { group: Group }) {
  const { t } = useWords();
  const c = t.executors.columns;
  const slots = sum(group.instances.map((i) => i.slots));
  const used = sum(group.instances.map((i) => i.running));
  const handlers = [...new Set(group.instances.flatMap((i) => i.handlers ?? []))].sort();
  return (
    <section className="card">
      <div className="h">
        <GroupDot group={group.executor_group} />
        <h2>{group.executor_group}</h2>
        {group.state !== "online" && <InstanceState state={group.state} pill />}
        <span className="right row g3">
          <Link to="/jobs" search={{ group: group.executor_group }} className="link">
            {t.nav.jobs}
          </Link>
          <Link to="/runs" search={{ group: group.executor_group }} className="link">
            {t.nav.runs}
          </Link>
          {slots > 0 && <b className="num">{t.executors.slots(used, slots)}</b>}
        </span>
      </div>
      {group.instances.length === 0 ? (
        <div className="b">
          <p className="sec">{t.executors.waits}</p>
          <Command group={group.executor_group} />
        </div>
      ) : (
        <div className="sideways">
          <table className="tbl">
            <thead>
              <tr>
                <th>{c.instance}</th>
                <th>{c.state}</th>
                <th>{c.slots}</th>
                <th>{c.kinds}</th>
                <th>{c.heartbeat}</th>
                <th>{c.uptime}</th>
                <th>{c.sdk}</th>
                <th>{c.version}</th>
              </tr>
            </thead>
            <tbody>
              {group.instances.map((i) => (
                <InstanceRow key={i.instance} instance={i} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {handlers.length > 0 && (
        <p className="handlers">
          <span className="mut">{t.executors.handlers}</span>
          {handlers.map((h) => (
            <span key={h} className="tag mono">
              {h}
            </span>
          ))}
        </p>
      )}
    </section>
  );
}

function InstanceRow({ instance: i }: { instance: Instance }) {
  const now = useNow();
  const late = now - Date.parse(i.at) > lateAfter;
  return (
    <tr>
      <td>
        <Link to="/runs" search={{ instance: i.instance }} className="name">
          {i.instance}
        </Link>{" "}
        <span className="mono mut">{i.host}</span>
      </td>
      <td>
        <InstanceState state={i.state} />
      </td>
      <td>
        <span className="row g2">
          <Pips used={i.running} slots={i.slots} draining={i.state === "draining"} />
          <span className="num">
            {i.running}/{i.slots}
          </span>
        </span>
      </td>
      <td className="sec">{i.kinds?.join(", ") ?? "—"}</td>
      <td className={late ? "c-warn" : "sec"}>
        <Ago at={i.at} />
      </td>
      <td className="sec num">
        {formatDuration(Math.max(0, Math.floor((now - Date.parse(i.started_at)) / 60_000) * 60_000))}
      </td>
      <td className="sec mono">{i.sdk ?? "—"}</td>
      <td className="sec mono">{i.version ?? "—"}</td>
    </tr>
  );
}

function Command({ group }: { group: string }) {
  const command = `carillon executor --group ${group}`;
  return (
    <span className="row g1 command">
      <code className="pre">{command}</code>
      <CopyIconButton text={command} />
    </span>
  );
}

function Connect({ group }: { group: string }) {
  const { t } = useWords();
  return (
    <Empty icon={Server} title={t.executors.none} hint={t.executors.noneHint}>
      <Command group={group} />
      <span className="row g2 mut">
        <span className="busy spin" /> {t.executors.listening}
      </span>
    </Empty>
  );
}
