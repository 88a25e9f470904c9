import type { ReactNode } from "react";
import type { ReportRow } from "@/api/schema.gen";
import { ShareBar } from "@/components/ShareBar";
import { type Head, Table } from "@/components/Table";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";

interface ShareTableProps {
  rows: ReportRow[];
  /** What a row is of, over the first column. */
  head: string;
  /** Over the runs, in the place of the usual head. */
  runs?: Head;
  /** Over the columns that cells fills, right of the runs. */
  heads?: Head[];
  keyOf(row: ReportRow): string;
  name(row: ReportRow): ReactNode;
  cells?(row: ReportRow): ReactNode;
}

/** How many runs each row has, as a figure, and as a bar beside the most that one of them has. */
export function ShareTable({ rows, head, runs, heads = [], keyOf, name, cells }: ShareTableProps) {
  const { reports: r } = usePageT();
  const f = useFormat();
  const most = Math.max(1, ...rows.map((row) => row.runs));
  return (
    <Table heads={[head, r.share, runs ?? { right: r.runs }, ...heads]} compact>
      {rows.map((row) => (
        <tr key={keyOf(row)}>
          <td>{name(row)}</td>
          <td>
            <span className="row">
              <ShareBar share={row.runs / most} />
            </span>
          </td>
          <td className="r num">{f.number(row.runs)}</td>
          {cells?.(row)}
        </tr>
      ))}
    </Table>
  );
}
