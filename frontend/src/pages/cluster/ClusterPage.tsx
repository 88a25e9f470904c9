import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { busQuery, healthQuery, nodesQuery, versionQuery } from "@/api/cluster";
import { Card } from "@/components/Panel";
import { Mark } from "@/components/Status";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { Page } from "@/shell/Page";
import { Consumers, Keepers, Streams } from "./Bus";
import { Figures } from "./Figures";
import { Moves, Nodes, Shards } from "./Nodes";
import { StoreCard } from "./StoreCard";
import { Switch } from "./Switch";
import "./cluster.css";

/**
 * What keeps everything firing: nodes and their shards, what is on NATS and how safe it
 * is there, how far the history has come, and the switch for all of it.
 */
export default function ClusterPage() {
  const t = usePageT();
  const nodes = useQuery(nodesQuery);
  const bus = useQuery(busQuery);
  const health = useQuery(healthQuery).data;
  const version = useQuery(versionQuery).data;
  return (
    <Page crumbs={[{ text: t.cluster.title }]}>
      <div className="pad">
        <Figures nodes={nodes.data} bus={bus.data} />
        <div className="split-page">
          <div className="grid">
            {nodes.data ? (
              <>
                <Nodes list={nodes.data} />
                <Shards list={nodes.data} />
              </>
            ) : (
              <Waiting on={nodes} />
            )}
            {bus.data ? (
              <>
                <Streams bus={bus.data} />
                <Keepers list={bus.data.kept} />
                <Consumers list={bus.data.consumers} />
              </>
            ) : (
              <Waiting on={bus} />
            )}
          </div>
          <div className="grid">
            <Switch />
            <StoreCard />
            {nodes.data && nodes.data.moves.length > 0 && <Moves list={nodes.data} />}
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
                <dt>NATS</dt>
                <dd className="mono">{bus.data?.version ?? "—"}</dd>
              </dl>
            </Card>
          </div>
        </div>
      </div>
    </Page>
  );
}
