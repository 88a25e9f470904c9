import { Link } from "@tanstack/react-router";
import type { ReportRow } from "@/api/schema.gen";
import { Card, Empty } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Table } from "@/components/Table";
import { useFormat } from "@/lib/format";
import { useReportsT } from "./texts";

const minute = 60_000;
const iso = (ms: number) => new Date(ms).toISOString();

/** The minutes with the most runs: what a new job had better keep away from. */
export function Busiest({ rows }: { rows: ReportRow[] }) {
  const t = useReportsT();
  const r = t.reports;
  const f = useFormat();
  const most = Math.max(1, ...rows.map((row) => row.runs));
  return (
    <Card title={r.busiest} note={<span className="hide-s">{r.busiestHint}</span>}>
      {rows.length === 0 ? (
        <Empty title={r.nothing} />
      ) : (
        <Table heads={[r.minute, r.share, { right: r.runs }]} compact>
          {rows.map((row) => {
            const at = Date.parse(row.at ?? "");
            return (
              <tr key={at}>
                <td>
                  <Link to="/runs" search={{ from: iso(at), to: iso(at + minute) }} className="name num">
                    {f.day(at)} {f.minute(at)}
                  </Link>
                </td>
                <td>
                  <span className="row">
                    <ShareBar share={row.runs / most} />
                  </span>
                </td>
                <td className="r num">{f.number(row.runs)}</td>
              </tr>
            );
          })}
        </Table>
      )}
    </Card>
  );
}
