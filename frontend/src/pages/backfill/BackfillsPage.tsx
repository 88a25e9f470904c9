import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";
import { bulkBackfillsQuery } from "@/api/bulkbackfill";
import { Card, Empty } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageWords } from "@/lib/format";
import { Page } from "@/shell/Page";
import { BulkState } from "./BulkState";
import { Period } from "./Period";

/** The backfills of many jobs, newest first. */
export default function BackfillsPage() {
  const { t, f } = usePageWords();
  const b = t.bulkBackfill;
  const list = useQuery(bulkBackfillsQuery);
  const items = list.data?.items ?? [];
  return (
    <Page crumbs={[{ text: t.nav.ledger, to: "/ledger" }, { text: b.title }]}>
      {!list.data ? (
        <Waiting on={list} rows={8} />
      ) : items.length === 0 ? (
        <Empty icon={History} title={b.empty} hint={b.emptyHint} />
      ) : (
        <div className="pad">
          <Card>
            <Table
              heads={[
                b.name,
                b.state,
                b.jobs,
                { right: b.fires },
                { right: b.succeeded },
                { right: b.failed },
                b.range,
                b.by,
                b.created,
              ]}
              className="bulkbackfills"
            >
              {items.map((x) => (
                <tr key={x.id}>
                  <td>
                    <Link to="/backfills/$backfill" params={{ backfill: x.id }} className="name" dir="auto">
                      {x.name}
                    </Link>
                  </td>
                  <td>
                    <BulkState of={x} />
                  </td>
                  <td>
                    <span className="row g2">
                      <ShareBar share={x.over / Math.max(1, x.jobs)} />
                      <span className="num nowrap">{b.jobsOver(x.over, x.jobs)}</span>
                    </span>
                  </td>
                  <td className="r num">{f.number(x.fires)}</td>
                  <td className="r num">{f.number(x.succeeded)}</td>
                  <td className={x.failed > 0 ? "r num c-bad" : "r num mut"}>{f.number(x.failed)}</td>
                  <td>
                    <Period from={x.from} to={x.to} />
                  </td>
                  <td className="sec">{x.by}</td>
                  <td className="mut nowrap">
                    <Ago at={x.created_at} />
                  </td>
                </tr>
              ))}
            </Table>
          </Card>
        </div>
      )}
    </Page>
  );
}
