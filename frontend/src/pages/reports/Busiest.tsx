import { Link } from "@tanstack/react-router";
import type { ReportRow } from "@/api/schema.gen";
import { Card, Empty } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { ShareTable } from "./ShareTable";

const minute = 60_000;
const iso = (ms: number) => new Date(ms).toISOString();

/** The minutes with the most runs: what a new job had better keep away from. */
export function Busiest({ rows }: { rows: ReportRow[] }) {
  const { reports: r } = usePageT();
  const f = useFormat();
  return (
    <Card title={r.busiest} note={<span className="hide-s">{r.busiestHint}</span>}>
      {rows.length === 0 ? (
        <Empty title={r.nothing} />
      ) : (
        <ShareTable
          rows={rows}
          head={r.minute}
          keyOf={(row) => row.at ?? ""}
          name={(row) => {
            const at = Date.parse(row.at ?? "");
            return (
              <Link to="/runs" search={{ from: iso(at), to: iso(at + minute) }} className="name num">
                {f.day(at)} {f.minute(at)}
              </Link>
            );
          }}
        />
      )}
    </Card>
  );
}
