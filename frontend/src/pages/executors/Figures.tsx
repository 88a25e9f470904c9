import { useQuery } from "@tanstack/react-query";
import { waitingOf } from "@/api/groups";
import { acceptHours, instanceHours } from "@/api/reports";
import type { Group } from "@/api/schema.gen";
import { Kpi } from "@/components/Kpi";
import { Spark } from "@/components/Spark";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { alignedEnd } from "@/lib/ranges";
import { spans } from "@/lib/timerange";

const hour = 3600e3;
const iso = (ms: number) => new Date(ms).toISOString();

/** What all executors together do now, and did in the last day. */
export function Figures({ groups }: { groups: Group[] }) {
  const t = usePageT();
  const f = useFormat();
  const end = alignedEnd(useNow(), hour);
  const day = { from: iso(end - spans["24h"]), to: iso(end) };
  const hours = useQuery(instanceHours(undefined, day)).data?.items ?? [];
  const accept = useQuery(acceptHours(day)).data?.items ?? [];
  const all = groups.flatMap((g) => g.instances);
  const unlisted = sum(groups.map((g) => g.more_instances ?? 0));
  const online = all.filter((i) => i.state === "online").length;
  const slots = sum(all.map((i) => i.slots));
  const used = sum(all.map((i) => i.running));
  const empty = groups.filter((g) => g.state === "empty").length;
  const versions = new Set(all.map((i) => i.version ?? ""));
  const busy = new Map<number, number>();
  for (const row of hours) {
    const at = Date.parse(row.at ?? "");
    busy.set(at, (busy.get(at) ?? 0) + ((row.duration.mean_ms ?? 0) * row.duration.count) / hour);
  }
  const byHour = Array.from({ length: 24 }, (_, i) => busy.get(end - (24 - i) * hour) ?? 0);
  const judged = accept.filter((row) => row.delivered_after.count > 0);
  const last = judged.at(-1)?.delivered_after.p99_ms;
  return (
    <div className="kpis">
      <Kpi
        label={t.fleet.online}
        value={f.number(online)}
        unit={` / ${f.number(all.length + unlisted)}`}
        foot={
          unlisted > 0 ? (
            t.fleet.unlisted(unlisted)
          ) : empty > 0 ? (
            <span className="c-lost">{t.fleet.emptyGroups(empty)}</span>
          ) : (
            t.fleet.notOnline(all.length - online)
          )
        }
      />
      <Kpi
        label={t.fleet.slotsUsed}
        value={f.number(used)}
        unit={` / ${f.number(slots)}`}
        foot={slots === 0 ? "—" : f.percent(used / slots)}
        spark={<Spark tone="accent" values={byHour} />}
      />
      <Kpi label={t.fleet.waiting} value={f.number(sum(groups.map(waitingOf)))} foot={t.fleet.waitingHint} />
      <Kpi
        label={t.fleet.accept}
        value={last === undefined ? "—" : formatDuration(last)}
        foot={t.fleet.acceptHint}
        spark={<Spark tone="idle" values={judged.map((row) => row.delivered_after.p99_ms)} />}
      />
      <Kpi
        label={t.fleet.versions}
        value={f.number(versions.size)}
        foot={versions.size > 1 ? <span className="c-warn">{t.fleet.manyVersions}</span> : t.fleet.oneVersion}
      />
    </div>
  );
}

const sum = (ns: number[]) => ns.reduce((a, b) => a + b, 0);
