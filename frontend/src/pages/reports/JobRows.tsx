import { useQuery } from "@tanstack/react-query";
import type { ReactElement, ReactNode } from "react";
import { namedJobs } from "@/api/jobs";
import type { ReportRow } from "@/api/schema.gen";
import { JobName } from "@/components/JobName";
import { Owner } from "@/components/Owner";
import { Card, Empty } from "@/components/Panel";
import { RunStrip } from "@/components/RunStrip";
import { Table } from "@/components/Table";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";

/** How many of a job's last runs there is room for, beside another card. */
const strip = 10;

/** The jobs of which the largest share of runs failed, with what became of their last runs. */
export function Unhealthy({ rows }: { rows: ReportRow[] }) {
  const t = usePageT();
  const f = useFormat();
  const bad = rows.filter((row) => row.job !== undefined && row.failure_ratio > 0);
  const names = bad.map((row) => row.job ?? "");
  const jobs = useQuery(namedJobs(names, strip)).data;
  const ownerOf = (name = "") => {
    const owner = jobs?.get(name)?.definition.owner;
    return owner ? <Owner name={owner} /> : <span className="mut">—</span>;
  };
  return (
    <JobTable
      title={t.reports.unhealthy}
      note={t.reports.unhealthyHint}
      none={t.reports.healthy}
      heads={["", t.reports.runs, t.reports.failedShare, <th key="owner">{t.joblist.columns.owner}</th>]}
      rows={bad}
      cells={(row) => (
        <>
          <td>
            <RunStrip runs={jobs?.get(row.job ?? "")?.last_runs ?? []} n={strip} />
          </td>
          <td className="r num sec">{f.number(row.runs)}</td>
          <td className="r num c-bad">{f.percent(row.failure_ratio)}</td>
          <td className="owned">{ownerOf(row.job)}</td>
        </>
      )}
    />
  );
}

/** The jobs whose runs take longest. */
export function Slowest({ rows }: { rows: ReportRow[] }) {
  const t = usePageT();
  const f = useFormat();
  const r = t.reports;
  return (
    <JobTable
      title={r.slowest}
      note={r.slowestHint}
      none={r.nothing}
      heads={[r.runs, r.p50, r.p95, r.longest]}
      rows={rows.filter((row) => row.job !== undefined && row.duration.count > 0)}
      cells={(row) => (
        <>
          <td className="r num sec">{f.number(row.runs)}</td>
          <td className="r num sec">{formatDuration(row.duration.p50_ms)}</td>
          <td className="r num">{formatDuration(row.duration.p95_ms)}</td>
          <td className="r num sec">{formatDuration(row.duration.max_ms ?? 0)}</td>
        </>
      )}
    />
  );
}

interface JobTableProps {
  title: string;
  note: string;
  /** What is said when there is no row. */
  none: string;
  /** Of figures, but for those that are whole cells. */
  heads: (string | ReactElement)[];
  rows: ReportRow[];
  cells(row: ReportRow): ReactNode;
}

function JobTable({ title, note, none, heads, rows, cells }: JobTableProps) {
  const t = usePageT();
  return (
    <Card title={title} note={<span className="hide-s">{note}</span>}>
      {rows.length === 0 ? (
        <Empty title={none} />
      ) : (
        <Table
          heads={[t.reports.job, ...heads.map((head) => (typeof head === "string" ? { right: head } : head))]}
          compact
        >
          {rows.map((row) => (
            <tr key={row.job}>
              <td>
                <JobName {...refOf(row.job ?? "")} />
              </td>
              {cells(row)}
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
