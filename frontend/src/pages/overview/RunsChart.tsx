import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { chartParts, overviewQueries, planTime } from "@/api/overview";
import { ChartTable, TableButton } from "@/components/ChartTable";
import { Legend } from "@/components/Legend";
import { Card, Failed } from "@/components/Panel";
import { StackChart } from "@/components/StackChart";
import { useHeight } from "@/components/useSize";
import { Zoomed } from "@/components/Zoomed";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { addTotals, type Bar, barsOf, totalsOf } from "@/lib/ranges";
import { dueIn } from "@/lib/requested";
import { chartOf } from "@/lib/timerange";
import { useHeld } from "@/shell/useHeld";
import type { Scoped } from "@/shell/useScope";

/** The chart is at least so high, and as high as the card beside it. */
const least = 216;

const iso = (ms: number) => new Date(ms).toISOString();

/** What became of the fires of a range, and what is planned in it or after it. */
export function RunsChart({ of: { range, firstDay, scope } }: { of: Scoped }) {
  const { t, f } = useWords();
  const navigate = useNavigate({ from: "/" });
  const now = useNow();
  const [table, setTable] = useState(false);
  const [box, room] = useHeight<HTMLDivElement>();
  const { from, part } = chartOf(range, chartParts);
  const asked = overviewQueries(range, { now, firstDay }, scope);
  const ahead = planTime(range, now);
  const past = useQuery(asked.past);
  const plan = useQuery(asked.plan).data;
  const held = useHeld();
  const counts = asked.plan.enabled ? (plan ? dueIn(plan) : []) : [];
  const totals = past.data?.items.map(totalsOf) ?? [];
  // Of a day that is not over, the plan takes the place of what has not been.
  const bars = barsOf(totals, from, part).filter((bar) => bar.from < ahead.from || counts.length === 0);
  counts.forEach((n, i) => {
    const at = ahead.from + i * part;
    bars.push({ from: at, to: at + part, ok: 0, bad: 0, other: 0, planned: n, off: held(at) });
  });
  const sum = addTotals(totals);
  const planned = counts.reduce((a, b) => a + b, 0);
  const label = t.overview.chartLabel(sum.ok + sum.bad, sum.bad, planned);
  const heads = [t.status.succeeded, t.status.failed, t.overview.other, t.overview.scheduled];
  const runsOf = (bar: Bar) => ({ ...scope, from: iso(bar.from), to: iso(bar.to) });
  return (
    <Card
      title={t.overview.chart}
      aside={
        <>
          <Legend
            marks={(["b-ok", "b-bad", "b-idle", "hollow"] as const).map((look, i) => [look, heads[i] ?? ""])}
          />
          <TableButton shown={table} onChange={setTable} />
        </>
      }
    >
      {range.name === undefined && (
        <Zoomed
          range={range}
          now={now}
          onLeave={() => void navigate({ search: (was) => ({ ...was, from: undefined, to: undefined }) })}
        />
      )}
      {past.isError && !past.data ? (
        <Failed error={past.error} onRetry={() => void past.refetch()} />
      ) : table ? (
        <ChartTable
          label={label}
          heads={heads}
          rows={[...bars].reverse().map((bar) => ({
            at: bar.from,
            from:
              bar.from < now ? (
                <Link to="/runs" search={runsOf(bar)} className="link">
                  {f.short(bar.from, now)}
                </Link>
              ) : (
                f.short(bar.from, now)
              ),
            values: [bar.ok, bar.bad, bar.other, bar.planned].map(f.number),
          }))}
        />
      ) : (
        <div className="fills" ref={box}>
          <div>
            <StackChart
              bars={bars}
              now={now}
              height={Math.max(least, room)}
              label={label}
              hint={t.overview.chartHint}
              onOpen={(bar) => void navigate({ to: "/runs", search: runsOf(bar) })}
              onNarrow={(a, b) => void navigate({ search: (was) => ({ ...was, from: iso(a), to: iso(b) }) })}
            />
          </div>
        </div>
      )}
    </Card>
  );
}
