import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { usageQuery } from "@/api/groups";
import type { Group, UsagePart } from "@/api/schema.gen";
import { ChartTable, TableButton } from "@/components/ChartTable";
import { LineChart } from "@/components/LineChart";
import { Card } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { durationStep, ticks, valueStep } from "@/lib/scale";
import { chartOf } from "@/lib/timerange";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker, rangeText } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";

const minute = 60e3;

/** In how many parts a range is shown. */
const parts = 96;

/** The server reports so much at most. */
const longest = 31 * 24 * 60 * minute;

const measures = ["waiting", "longest", "started", "ended", "slots"] as const;
type Measure = (typeof measures)[number];

/** The measures that have a chart; the table has all. */
const charts = ["waiting", "longest", "started", "slots"] as const;

/** How busy the executors of a group were: runs that wait, the longest wait, throughput and slots in use. */
export function UsageCard({ group: g }: { group: Group }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const navigate = useNavigate({ from: "/executors/$group" });
  const ranged = useRange(useSearch({ from: "/executors/$group" }), { longest });
  const [table, setTable] = useState(false);
  const { from, to, part } = chartOf(ranged.range, parts);
  const usage = useQuery(usageQuery(g.executor_group, { from, to, parts }));
  const items = usage.data?.items ?? [];
  const slots = g.instances.reduce((n, i) => (i.state === "lost" ? n : n + i.slots), 0);
  const u = t.fleet.usage;
  const numbers = (v: number) => f.number(Math.round(v * 100) / 100);
  const write = (measure: Measure) => (v: number) =>
    measure === "longest" ? (v === 0 ? "0" : formatDuration(v)) : numbers(v);
  return (
    <Card
      title={u.title}
      note={<span className="hide-s">{u.hint}</span>}
      aside={
        <>
          <RangePicker of={ranged} onChange={(search) => void navigate({ search, replace: true })} />
          <TableButton shown={table} onChange={setTable} />
        </>
      }
    >
      <RangeNote of={ranged} />
      {!usage.data ? (
        <Waiting on={usage} rows={6} />
      ) : table ? (
        <ChartTable
          label={u.title}
          heads={measures.map((m) => u.measures[m])}
          rows={[...items].reverse().map((p) => ({
            at: Date.parse(p.at),
            from: f.short(p.at, now),
            values: measures.map((m) => write(m)(measured(p, m, part))),
          }))}
        />
      ) : (
        <div className="b usage">
          {charts.map((m) => {
            const points = items.map((p) => ({
              at: Math.min(Date.parse(p.at) + part / 2, now),
              value: measured(p, m, part),
            }));
            const most = Math.max(0, ...points.map((p) => p.value));
            const level = m === "slots" && slots > 0 ? { value: slots, text: u.slotsNow(slots) } : undefined;
            const top = Math.max(most, level?.value ?? 0, 1);
            const step = m === "longest" ? durationStep(top, 3) : valueStep(top, 3);
            return (
              <section key={m} aria-label={u.measures[m]}>
                <h3>{u.measures[m]}</h3>
                <LineChart
                  points={points}
                  from={from}
                  to={to}
                  lines={ticks(top, step)}
                  level={level}
                  tone={m === "waiting" || m === "longest" ? "warn" : "accent"}
                  write={write(m)}
                  height={150}
                  label={u.label(
                    u.measures[m],
                    write(m)(most),
                    rangeText(ranged.range, t, f, now),
                    level?.text,
                  )}
                />
              </section>
            );
          })}
        </div>
      )}
    </Card>
  );
}

/** A measure of a part; starts and ends are per minute. */
function measured(p: UsagePart, measure: Measure, part: number): number {
  switch (measure) {
    case "waiting":
      return p.waiting;
    case "longest":
      return p.longest_wait_ms;
    case "started":
      return (p.started * minute) / part;
    case "ended":
      return (p.ended * minute) / part;
    case "slots":
      return p.slots_in_use;
  }
}
