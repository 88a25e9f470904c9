import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX, Server } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import type { Group, Instance } from "@/api/schema.gen";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { Kpi } from "@/components/Kpi";
import { Empty } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { useFormat } from "@/lib/format";
import { instanceStates } from "@/router";
import { Page } from "@/shell/Page";
import { GroupCard } from "./GroupCard";
import { StartCommand } from "./StartCommand";
import { useFleetT } from "./texts";

/** Up to so many groups are all shown with their instances. */
const fewGroups = 4;

/** The programs that do the work, by group, with what each is doing. */
export default function ExecutorsPage() {
  const t = useFleetT();
  const navigate = useNavigate({ from: "/executors" });
  const { q = "", state } = useSearch({ from: "/executors" });
  const query = useQuery(groupsQuery);
  const groups = query.data?.items ?? [];
  const look = q.trim().toLowerCase();
  const filtered = look !== "" || state !== undefined;
  const shown = groups
    .map((g) => ({
      ...g,
      instances: g.instances.filter((i) => (g.executor_group.includes(look) || has(i, look)) && is(i, state)),
    }))
    .filter((g) => !filtered || g.instances.length > 0 || (!state && g.executor_group.includes(look)))
    .sort((a, b) => rank(a) - rank(b) || a.executor_group.localeCompare(b.executor_group));
  const open = shown.filter((g) => filtered || shown.length <= fewGroups || rank(g) < healthy);
  const closed = shown.filter((g) => !open.includes(g));
  return (
    <Page
      crumbs={[{ text: t.executors.title }]}
      actions={
        <FilterField
          value={q}
          placeholder={t.fleet.filter}
          eager
          onChange={(text) =>
            void navigate({ search: (was) => ({ ...was, q: text || undefined }), replace: true })
          }
        />
      }
    >
      <div className="pad">
        {!query.data ? (
          <Waiting on={query} />
        ) : groups.length === 0 ? (
          <Empty icon={Server} title={t.fleet.none} hint={t.fleet.noneHint}>
            <StartCommand group="default" />
            <span className="row g2 mut">
              <span className="busy spin" /> {t.fleet.listening}
            </span>
          </Empty>
        ) : (
          <>
            <Figures groups={groups} />
            <div className="filters flat">
              <FilterChip
                name={t.fleet.state}
                multiple
                options={instanceStates.map((s) => ({ value: s, label: t.executors.states[s] ?? s }))}
                chosen={state ?? []}
                onChange={(next) =>
                  void navigate({
                    search: (was) => ({ ...was, state: next.length > 0 ? next : undefined }),
                    replace: true,
                  })
                }
              />
            </div>
            {shown.length === 0 && <Empty icon={SearchX} title={t.fleet.noMatch} />}
            <div className="grid">
              {open.map((g) => (
                <GroupCard key={g.executor_group} group={g} />
              ))}
              {closed.length > 0 && (
                <div className="grid three-up">
                  {closed.map((g) => (
                    <GroupCard key={g.executor_group} group={g} small />
                  ))}
                </div>
              )}
            </div>
          </>
        )}
      </div>
    </Page>
  );
}

function Figures({ groups }: { groups: Group[] }) {
  const t = useFleetT();
  const f = useFormat();
  const all = groups.flatMap((g) => g.instances);
  const online = all.filter((i) => i.state === "online").length;
  const slots = sum(all.map((i) => i.slots));
  const used = sum(all.map((i) => i.running));
  const empty = groups.filter((g) => g.state === "empty").length;
  const versions = new Set(all.map((i) => i.version ?? ""));
  return (
    <div className="kpis">
      <Kpi
        label={t.fleet.online}
        value={f.number(online)}
        unit={` / ${all.length}`}
        foot={t.fleet.notOnline(all.length - online)}
      />
      <Kpi
        label={t.fleet.slotsUsed}
        value={f.number(used)}
        unit={` / ${f.number(slots)}`}
        foot={slots === 0 ? "—" : f.percent(used / slots)}
      />
      <Kpi
        label={t.fleet.waiting}
        value={f.number(sum(groups.map((g) => g.waiting ?? 0)))}
        foot={t.fleet.waitingHint}
      />
      <Kpi
        label={t.fleet.groups}
        value={f.number(groups.length)}
        foot={empty > 0 ? <span className="c-lost">{t.fleet.emptyGroups(empty)}</span> : t.fleet.allServed}
      />
      <Kpi
        label={t.fleet.versions}
        value={f.number(versions.size)}
        foot={versions.size > 1 ? <span className="c-warn">{t.fleet.manyVersions}</span> : t.fleet.oneVersion}
      />
    </div>
  );
}

const sum = (ns: number[]) => ns.reduce((a, b) => a + b, 0);
const is = (i: Instance, states: Instance["state"][] | undefined) => !states || states.includes(i.state);
const has = (i: Instance, look: string) =>
  [i.instance, i.host, i.version, i.sdk, i.zone, ...(i.handlers ?? [])].some((x) =>
    x?.toLowerCase().includes(look),
  );

/** Groups that want looking at come first: without an executor, without one that takes runs, with one in trouble. */
const healthy = 3;
function rank(g: Group): number {
  if (g.state === "empty") return 0;
  if (g.state === "draining") return 1;
  return g.instances.every((i) => i.state === "online") ? healthy : 2;
}
