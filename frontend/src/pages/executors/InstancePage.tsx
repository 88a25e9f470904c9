import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Unplug } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import { latestRuns } from "@/api/runs";
import type { Instance } from "@/api/schema.gen";
import { Card, Empty } from "@/components/Panel";
import { Pips } from "@/components/Pips";
import { RunTable } from "@/components/RunTable";
import { InstanceState } from "@/components/Status";
import { Ago, Countdown } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { usualRunColumns } from "@/lib/columns";
import { useSayer } from "@/lib/reason";
import { Page } from "@/shell/Page";
import "@/styles/phone.css";
import { Sideways } from "@/components/Sideways";
import { InstanceActions } from "./InstanceActions";
import { InstanceDay } from "./InstanceDay";
import { Load, Memory } from "./InstanceTable";
import { refusedFor } from "./refusal";

const columns = usualRunColumns("executor");

/** One executor process: what it is, what it does now, and what it did. */
export default function InstancePage() {
  const t = usePageT();
  const { group = "", instance: name = "" } = useParams({ strict: false });
  const groups = useQuery(groupsQuery);
  const found = groups.data?.items
    .find((g) => g.executor_group === group)
    ?.instances.find((i) => i.instance === name);
  const running = useQuery(latestRuns({ instance: name, group, status: ["running"] }, 100)).data?.items ?? [];
  const recent = useQuery(latestRuns({ instance: name, group }, 20));
  const done = recent.data?.items.filter((r) => r.status !== "running") ?? [];
  return (
    <Page
      crumbs={[
        { text: t.executors.title, to: "/executors" },
        { text: group, to: "/executors/$group", params: { group } },
        { text: name },
      ]}
      actions={found && <InstanceActions instance={found} />}
    >
      <div className="pad grid">
        {!groups.data ? (
          <Waiting on={groups} rows={4} />
        ) : found ? (
          <div className="grid two-up">
            <Facts instance={found} />
            <Abilities instance={found} />
          </div>
        ) : (
          <Empty icon={Unplug} title={t.fleet.gone} hint={t.fleet.goneHint} />
        )}
        {found && <InstanceDay instance={found} />}
        <Card title={t.fleet.runningHere}>
          {running.length === 0 ? (
            <p className="b sec">{t.fleet.nothingRuns}</p>
          ) : (
            <Sideways>
              <RunTable runs={running} columns={columns} />
            </Sideways>
          )}
        </Card>
        <Card
          title={t.fleet.recentHere}
          aside={
            <Link to="/runs" search={{ instance: name }} className="link">
              {t.job.allRuns}
            </Link>
          }
        >
          {!recent.data ? (
            <Waiting on={recent} rows={4} />
          ) : done.length === 0 ? (
            <p className="b sec">{t.job.noRuns}</p>
          ) : (
            <Sideways>
              <RunTable runs={done} columns={columns} />
            </Sideways>
          )}
        </Card>
      </div>
    </Page>
  );
}

function Facts({ instance: i }: { instance: Instance }) {
  const { say } = useSayer();
  const t = usePageT();
  const c = t.fleet.columns;
  return (
    <Card title={t.fleet.facts} note={<InstanceState state={i.state} pill />}>
      <dl className="dl b">
        <dt>{c.slots}</dt>
        <dd>
          <span className="row g2 end">
            <Pips used={i.running} slots={i.slots} draining={i.state === "draining"} />
            {i.running}/{i.slots}
          </span>
        </dd>
        {i.drain_by && (
          <>
            <dt>{t.fleet.drainBy}</dt>
            <dd className="c-warn">
              <Countdown at={i.drain_by} />
            </dd>
          </>
        )}
        {i.refused && i.refusal ? (
          <>
            <dt>{t.fleet.refusedMessages}</dt>
            <dd className="c-warn num">{i.refused}</dd>
            <dt>{t.fleet.lastRefusal}</dt>
            <dd>
              <Ago at={i.refusal.at} />
              <div className="c-warn">{refusedFor(i, say)}</div>
              <div className="mut mono">{`${i.refusal.stream} ${i.refusal.sequence} ${i.refusal.subject}`}</div>
            </dd>
          </>
        ) : null}
        <dt>{c.load}</dt>
        <dd className="row end">
          <Load load={i.load} />
        </dd>
        <dt>{c.memory}</dt>
        <dd className="row end">
          <Memory load={i.load} />
        </dd>
        <dt>{c.heartbeat}</dt>
        <dd>
          <Ago at={i.at} />
        </dd>
        <dt>{t.fleet.started}</dt>
        <dd>
          <Ago at={i.started_at} />
        </dd>
        <dt>{t.fleet.host}</dt>
        <dd className="mono">{i.host ?? "—"}</dd>
        <dt>{t.fleet.pid}</dt>
        <dd className="num">{i.pid ?? "—"}</dd>
        <dt>{c.zone}</dt>
        <dd>{i.zone ?? "—"}</dd>
        <dt>{c.version}</dt>
        <dd className="mono">{i.version ?? "—"}</dd>
        <dt>{t.fleet.sdk}</dt>
        <dd className="mono">{i.sdk ?? "—"}</dd>
        <dt>{t.fleet.protocol}</dt>
        <dd className="num">{i.protocol ?? "—"}</dd>
      </dl>
    </Card>
  );
}

function Abilities({ instance: i }: { instance: Instance }) {
  const t = usePageT();
  const labels = Object.entries(i.labels ?? {}).map(([k, v]) => `${k}=${v}`);
  const tags = (items: string[]) =>
    items.length === 0 ? (
      <span className="mut">{t.fleet.noLimit}</span>
    ) : (
      <span className="row g1 wrap">
        {items.map((x) => (
          <span key={x} className="tag mono">
            {x}
          </span>
        ))}
      </span>
    );
  return (
    <div className="grid">
      <Card title={t.fleet.labels}>
        <div className="b">{tags(labels)}</div>
      </Card>
      <Card title={t.fleet.kinds}>
        <div className="b">{tags(i.kinds ?? [])}</div>
      </Card>
      <Card title={t.fleet.handlers}>
        <div className="b">{tags(i.handlers ?? [])}</div>
      </Card>
    </div>
  );
}
