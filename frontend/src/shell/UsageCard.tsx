import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { UsagePart } from "@/api/schema.gen";
import { type Usage, usageQuery } from "@/api/usage";
import { ChartTable, TableButton } from "@/components/ChartTable";
import { LineChart } from "@/components/LineChart";
import { Card } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { durationStep, ticks, valueStep } from "@/lib/scale";
import { chartOf, type RangeSearch } from "@/lib/timerange";
import { RangeNote } from "./RangeNote";
import { RangePicker, rangeText } from "./RangePicker";
import { useRange } from "./useRange";

const minute = 60e3;

/** In how many parts a range is shown. */
const parts = 96;

/** The server reports so much at most. */
const longest = 31 * 24 * 60 * minute;

const measures = ["waiting", "longest", "started", "ended", "slots"] as const;
type Measure = (typeof measures)[number];

interface UsageCardProps {
  of: Usage;
  title: string;
  /** The name of the slots in use; those of a job are its runs at once. */
  slots?: string;
  /** How many slots there may be in use, and in words. */
  limit?: { value: number; text: string };
  /** The measures that have a chart; the table has all. */
  charts: readonly Measure[];
  search: RangeSearch;
  onSearch(search: RangeSearch): void;
}

/** How busy a group or a job was: runs that wait, the longest wait, throughput and slots in use. */
export function UsageCard({ of, title, slots, limit, charts, search, onSearch }: UsageCardProps) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const ranged = useRange(search, { longest });
  const [table, setTable] = useState(false);
  const { from, to, part } = chartOf(ranged.range, parts);
  const usage = useQuery(usageQuery(of, { from, to, parts }));
  const items = usage.data?.items ?? [];
  const u = t.fleet.usage;
  const names = { ...u.measures, ...(slots ? { slots } : {}) };
  const numbers = (v: number) => f.number(Math.round(v * 100) / 100);
  const write = (measure: Measure) => (v: number) =>
    measure === "longest" ? (v === 0 ? "0" : formatDuration(v)) : numbers(v);
  return (
    <Card
      title={title}
      note={<span className="hide-s">{u.hint}</span>}
      aside={
        <>
          <RangePicker of={ranged} onChange={onSearch} />
          <TableButton shown={table} onChange={setTable} />
        </>
      }
    >
      <RangeNote of={ranged} />
      {!usage.data ? (
        <Waiting on={usage} rows={6} />
      ) : table ? (
        <ChartTable
          label={title}
          heads={measures.map((m) => names[m])}
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
            const level = m === "slots" ? limit : undefined;
            const top = Math.max(most, level?.value ?? 0, 1);
            const step = m === "longest" ? durationStep(top, 3) : valueStep(top, 3);
            return (
              <section key={m} aria-label={names[m]}>
                <h3>{names[m]}</h3>
                <LineChart
                  points={points}
                  from={from}
                  to={to}
                  lines={ticks(top, step)}
                  level={level}
                  tone={m === "waiting" || m === "longest" ? "warn" : "accent"}
                  write={write(m)}
                  height={150}
                  label={u.label(names[m], write(m)(most), rangeText(ranged.range, t, f, now), level?.text)}
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
