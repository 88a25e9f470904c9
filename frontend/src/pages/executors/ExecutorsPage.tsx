import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, SearchX, Server } from "lucide-react";
import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import type { Group, Instance } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { Empty } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { instanceStates } from "@/router";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { Figures } from "./Figures";
import { GroupCard } from "./GroupCard";
import { MoveCard } from "./MoveCard";
import { NewGroupDialog } from "./NewGroupDialog";
import { StartCommand } from "./StartCommand";

/** Up to so many groups are all shown with their instances. */
const fewGroups = 4;

/** The programs that do the work, by group, with what each is doing. */
export default function ExecutorsPage() {
  const t = usePageT();
  const navigate = useNavigate({ from: "/executors" });
  const { q = "", state } = useSearch({ from: "/executors" });
  const query = useQuery(groupsQuery);
  const may = useMay();
  const [making, setMaking] = useState(false);
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
        <>
          <FilterField
            value={q}
            placeholder={t.fleet.filter}
            eager
            onChange={(text) =>
              void navigate({ search: (was) => ({ ...was, q: text || undefined }), replace: true })
            }
          />
          {may("admin", "*") && (
            <Button icon={Plus} onClick={() => setMaking(true)}>
              {t.fleet.newGroup}
            </Button>
          )}
        </>
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
              <MoveCard groups={groups} />
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
      {making && (
        <NewGroupDialog taken={groups.map((g) => g.executor_group)} onClose={() => setMaking(false)} />
      )}
    </Page>
  );
}

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
