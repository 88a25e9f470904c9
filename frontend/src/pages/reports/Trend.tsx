import { useState } from "react";
import type { ReportRow } from "@/api/schema.gen";
import { ChartTable, TableButton } from "@/components/ChartTable";
import { LineChart } from "@/components/LineChart";
import { Card, Empty } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { durationStep, ticks } from "@/lib/scale";

const metrics = ["failed", "duration", "delay"] as const;
type Metric = (typeof metrics)[number];

const stages = ["committed", "delivered", "started", "finished"] as const;
type Stage = (typeof stages)[number];

/** How one measure of all runs goes, hour by hour or day by day. */
export function Trend({ rows, from, to }: { rows: ReportRow[]; from: string; to: string }) {
  const t = usePageT();
  const r = t.reports;
  const f = useFormat();
  const now = useNow();
  const [metric, setMetric] = useState<Metric>("failed");
  const [stage, setStage] = useState<Stage>("started");
  const [table, setTable] = useState(false);
  const points = rows
    .filter((row) => row.at !== undefined)
    .map((row) => ({ at: Date.parse(row.at ?? ""), value: measured(row, metric, stage) }));
  const most = Math.max(...points.map((p) => p.value ?? 0), metric === "failed" ? 0.01 : 10);
  const step = metric === "failed" ? shareStep(most) : durationStep(most, 4);
  const shown = metric === "delay" ? `${r.metrics.delay} ${r.stages[stage]}` : r.metrics[metric];
  const write = (v: number) =>
    metric === "failed" ? `${Math.round(v * 1000) / 10}%` : formatDuration(Math.round(v));
  return (
    <Card
      title={r.trend}
      aside={
        <>
          {metric === "delay" && (
            <Segments
              label={r.stage}
              value={stage}
              options={stages.map((s) => ({ value: s, label: r.stages[s] }))}
              onChange={setStage}
            />
          )}
          <Segments
            label={r.metric}
            value={metric}
            options={metrics.map((m) => ({ value: m, label: r.metrics[m] }))}
            onChange={setMetric}
          />
          <TableButton shown={table} onChange={setTable} />
        </>
      }
    >
      {points.length === 0 ? (
        <Empty title={r.nothing} />
      ) : table ? (
        <ChartTable
          label={shown}
          heads={[shown]}
          rows={[...points].reverse().map((p) => ({
            at: p.at,
            from: f.short(p.at, now),
            values: [p.value === undefined ? "—" : write(p.value)],
          }))}
        />
      ) : (
        <LineChart
          points={points}
          from={Date.parse(from)}
          to={Date.parse(to)}
          lines={ticks(most, step)}
          tone={metric === "failed" ? "bad" : "accent"}
          write={write}
          label={r.trendLabel(shown, f.short(from, now), f.short(to, now))}
        />
      )}
    </Card>
  );
}

function measured(row: ReportRow, metric: Metric, stage: Stage): number | undefined {
  if (metric === "failed") return row.attempts > 0 ? row.failure_ratio : undefined;
  const spread = metric === "duration" ? row.duration : row[`${stage}_after`];
  return spread.count > 0 ? spread.p95_ms : undefined;
}

/** A round share for an axis of at most four lines. */
function shareStep(most: number): number {
  return [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25].find((s) => most / s <= 4) ?? 0.25;
}
