import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { breakdownQuery } from "@/api/reports";
import type { ReportRow } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Card, Empty } from "@/components/Panel";
import { SortHead } from "@/components/SortHead";
import { Verdict } from "@/components/Verdict";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { ShareTable } from "@/pages/reports/ShareTable";
import type { runsSearch } from "@/router";

type Search = ReturnType<typeof runsSearch>;

interface BreakdownProps {
  by: NonNullable<Search["by"]>;
  /** What the page is narrowed to. */
  search: Search;
  range: { from: string; to: string };
  onSort(by: Order | undefined): void;
}

/** What the server can have first. */
const orders = ["runs", "ratio", "duration"] as const;
type Order = (typeof orders)[number];

/** The runs of a range by job or by executor. */
export default function Breakdown({ by, search, range, onSort }: BreakdownProps) {
  const t = usePageT();
  return (
    <div className="pad">
      <p className="mut spaced">{t.runlist.breakdown.hints[by]}</p>
      <Rows by={by} search={search} range={range} onSort={onSort} />
    </div>
  );
}

function Rows({ by, search, range, onSort }: BreakdownProps) {
  const t = usePageT();
  const r = t.reports;
  const f = useFormat();
  const { job, group } = search;
  // Counts are not kept by job and executor at once.
  const order = orders.find((o) => o === search.sort) ?? "runs";
  const list = useQuery(breakdownQuery(by, by === "job" ? { job, group } : { group }, range, order));
  if (!list.data) return <Waiting on={list} />;
  const rows = list.data.items.filter((row) => row[by] !== undefined && row[by] !== "");
  if (rows.length === 0) return <Empty icon={SearchX} title={t.runlist.none} hint={t.runlist.noneHint} />;
  const judged = rows.some((row) => row.target);
  const here = (row: ReportRow): Search => ({
    ...search,
    by: undefined,
    sort: undefined,
    ...(by === "job" ? { job: [row.job ?? ""] } : { instance: row.instance }),
  });
  // The server has the greatest first, and no other way.
  const head = (column: Order, text: string) => (
    <SortHead
      key={column}
      by={column}
      sort={{ by: order, down: true }}
      down
      right
      onSort={(next) => onSort(next?.down && next.by !== "runs" ? next.by : undefined)}
    >
      {text}
    </SortHead>
  );
  return (
    <Card>
      <ShareTable
        rows={rows}
        head={t.runlist.breakdown[by]}
        runs={head("runs", r.runs)}
        heads={[
          head("ratio", r.failedShare),
          ...(by === "job" ? [{ right: r.success }] : []),
          { right: r.p50 },
          head("duration", r.p95),
          ...(judged ? [r.target] : []),
        ]}
        keyOf={(row) => `${row.group} ${row.job} ${row.instance}`}
        name={(row) => (
          <>
            <Link to="/runs" search={here(row)} className="name">
              {by === "job" ? <JobTitle job={row.job ?? ""} /> : row.instance}
            </Link>{" "}
            <span className="mut">{by === "job" ? refOf(row.job ?? "").group : row.group}</span>
          </>
        )}
        cells={(row) => (
          <>
            <td className={row.failure_ratio > 0 ? "r num c-bad" : "r num mut"}>
              {f.percent(row.failure_ratio)}
            </td>
            {by === "job" && (
              <td className="r num sec">
                {row.success_rate === undefined ? "—" : f.percent(row.success_rate)}
              </td>
            )}
            <td className="r num sec">
              {row.duration.count > 0 ? formatDuration(row.duration.p50_ms) : "—"}
            </td>
            <td className="r num">{row.duration.count > 0 ? formatDuration(row.duration.p95_ms) : "—"}</td>
            {judged && (
              <td>
                <Verdict row={row} />
              </td>
            )}
          </>
        )}
      />
    </Card>
  );
}
