import type { ReactNode } from "react";
import type { MonthReport, ReportRow, Status } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Table } from "@/components/Table";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { failures } from "@/lib/status";

/** The success rate as the overview has it. */
export function successOf(row: ReportRow): string {
  if (row.success_rate === undefined) return "—";
  const percent = row.success_rate * 100;
  return `${percent.toFixed(percent > 99 && percent < 100 ? 2 : 1)}%`;
}

const p99 = ["committed_after", "started_after", "duration"] as const;

/** All runs of the month beside those of the month before. */
export function Figures({ report }: { report: MonthReport }) {
  const { t, f } = usePageWords();
  const m = t.month;
  const counted = (row: ReportRow, statuses: readonly Status[]) =>
    f.number(statuses.reduce((n, s) => n + (row.statuses[s] ?? 0), 0));
  const spread = (of: (typeof p99)[number], p: "p50_ms" | "p99_ms") => (row: ReportRow) =>
    row[of].count > 0 ? formatDuration(row[of][p]) : "—";
  const lines: [string, (row: ReportRow) => ReactNode][] = [
    [m.ended, (row) => f.number(row.runs)],
    [m.ran, (row) => counted(row, ["succeeded", ...failures, "cancelled"])],
    [t.status.failed, (row) => counted(row, failures)],
    [t.status.skipped, (row) => counted(row, ["skipped"])],
    [t.status.missed, (row) => counted(row, ["missed"])],
    [
      m.success,
      (row) => (
        <>
          {successOf(row)}
          {row.scheduled > 0 && <span className="sec hide-s"> {m.ofScheduled(f.number(row.scheduled))}</span>}
        </>
      ),
    ],
    [m.lateP50, spread("committed_after", "p50_ms")],
    [m.lateP99, spread("committed_after", "p99_ms")],
    [m.waitedP50, spread("started_after", "p50_ms")],
    [m.waitedP99, spread("started_after", "p99_ms")],
    [m.durationP50, spread("duration", "p50_ms")],
    [m.durationP99, spread("duration", "p99_ms")],
  ];
  return (
    <Card title={m.figures}>
      <Table heads={[m.figure, { right: m.now }, { right: m.before }]} compact>
        {lines.map(([name, of]) => (
          <tr key={name}>
            <td>{name}</td>
            <td className="r num">{of(report.total)}</td>
            <td className="r num sec">{of(report.before)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}
