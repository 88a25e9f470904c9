import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { instanceHours } from "@/api/reports";
import { runCounts } from "@/api/runs";
import type { Instance } from "@/api/schema.gen";
import { LineChart } from "@/components/LineChart";
import { Card } from "@/components/Panel";
import { StackChart } from "@/components/StackChart";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useNow } from "@/lib/now";
import { addTotals, alignedEnd, barsOf, totalsOf } from "@/lib/ranges";
import { countStep, ticks } from "@/lib/scale";
import { spans } from "@/lib/timerange";

const hour = 3600e3;
const parts = 96;
const iso = (ms: number) => new Date(ms).toISOString();

/** What an instance did in the last day: its runs by how they ended, and how many of its slots they took. */
export function InstanceDay({ instance }: { instance: Instance }) {
  const t = usePageT();
  const navigate = useNavigate();
  const now = useNow();
  const part = spans["24h"] / parts;
  const to = alignedEnd(now, part);
  const { executor_group: group, instance: name, slots } = instance;
  const counts = useQuery(
    runCounts({ group, instance: name, from: iso(to - spans["24h"]), to: iso(to) }, parts, 10_000),
  );
  const end = alignedEnd(now, hour);
  const hours = useQuery(instanceHours(group, { from: iso(end - spans["24h"]), to: iso(end) }));
  const totals = counts.data?.items.map(totalsOf) ?? [];
  const sum = addTotals(totals);
  const busy = new Map(
    hours.data?.items
      .filter((row) => row.instance === name)
      .map((row) => [Date.parse(row.at ?? ""), ((row.duration.mean_ms ?? 0) * row.duration.count) / hour]),
  );
  const points = Array.from({ length: 24 }, (_, i) => end - (24 - i) * hour).map((at) => ({
    at: at + hour / 2,
    value: busy.get(at) ?? 0,
  }));
  const most = Math.max(...points.map((p) => p.value));
  const axis = Math.max(most, 1);
  return (
    <div className="grid two-up">
      <Card title={t.fleet.runsOfDay}>
        {counts.data ? (
          <StackChart
            bars={barsOf(totals, to - spans["24h"], part)}
            now={now}
            height={180}
            label={t.overview.chartLabel(sum.ok + sum.bad, sum.bad, 0)}
            onOpen={(bar) =>
              void navigate({
                to: "/runs",
                search: { group, instance: name, from: iso(bar.from), to: iso(bar.to) },
              })
            }
          />
        ) : (
          <Waiting on={counts} rows={4} />
        )}
      </Card>
      <Card title={t.fleet.busySlots} note={<span className="hide-s">{t.fleet.busySlotsHint}</span>}>
        {hours.data ? (
          <LineChart
            points={points}
            from={end - spans["24h"]}
            to={end}
            lines={ticks(axis, countStep(axis, 4))}
            tone="accent"
            write={(v) => String(Math.round(v * 100) / 100)}
            height={180}
            label={t.fleet.busySlotsLabel(Math.round(most * 10) / 10, slots)}
          />
        ) : (
          <Waiting on={hours} rows={4} />
        )}
      </Card>
    </div>
  );
}
