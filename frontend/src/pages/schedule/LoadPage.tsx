import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { fireCounts } from "@/api/schedule";
import { FilterChip } from "@/components/FilterChip";
import { Kpi } from "@/components/Kpi";
import { Card, Empty } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Waiting } from "@/components/Waiting";
import { offsetMinutes, usePageWords, wallToInstant } from "@/lib/format";
import { minutesOf, quietWindow, zoneMinutes } from "@/lib/load";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import { dueIn } from "@/lib/requested";
import { paces } from "@/router";
import { GroupFilter } from "@/shell/GroupFilter";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { DayLoad } from "./DayLoad";
import { Drivers } from "./Drivers";
import { days, HeatMap, perDay } from "./HeatMap";
import { MinuteCard } from "./MinuteCard";
import { OffsetsDialog } from "./OffsetsDialog";
import { ScheduleTabs } from "./Tabs";
import "./load.css";

const quarter = 900_000;

/** When work fires in the coming week, by quarters of an hour. */
export default function LoadPage() {
  const { t, f } = usePageWords();
  const navigate = useNavigate({ from: "/schedule/load" });
  const { group, by, slower } = useSearch({ from: "/schedule/load" });
  const now = useNow();
  const mayEdit = useMay()("edit");
  const [chosen, setChosen] = useState<number>();
  const [suggesting, setSuggesting] = useState(false);
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const start = wallToInstant(`${dateIn(f.zone, now)}T00:00`, f.zone);
  const current = Math.floor((now - start) / quarter);
  const from = start + current * quarter;
  const end = start + days * perDay * quarter;
  const iso = (ms: number) => new Date(ms).toISOString();
  const parts = days * perDay - current;
  // The range excludes its beginning and includes its end; a fire on the full quarter belongs to the one that begins.
  const query = useQuery(
    fireCounts({ from: iso(from - 1), to: iso(end - 1), group, apart: slower }, parts, `load ${from}`, true),
  );
  const past = Array.from({ length: current }, () => undefined);
  const counts: (number | undefined)[] = [...past, ...(query.data ? dueIn(query.data) : [])];
  const requested = query.data?.requested ?? [];
  const slotMs: (number | undefined)[] = [...past, ...(query.data?.slot_ms ?? [])];
  const bySlots = by === "slots" && query.data?.slot_ms !== undefined;
  const values = bySlots ? slotMs : counts;
  const total = query.data?.counts.reduce((a, b) => a + b, 0) ?? 0;
  const asked = requested.reduce((a, b) => a + b, 0);
  const busiest = values.indexOf(Math.max(...values.map((v) => v ?? -1)));
  const shown = chosen ?? (busiest >= 0 ? busiest : undefined);
  const quiet = quietWindow(counts);
  const minutes = zoneMinutes(query.data?.minutes ?? [], offsetMinutes(f.zone, now));
  const slots = groups
    .filter((g) => !group || group === g.executor_group)
    .flatMap((g) => g.instances)
    .reduce((n, i) => n + (i.state === "online" ? i.slots : 0), 0);
  const factor = slots > 0 ? (slotMs[busiest] ?? 0) / (slots * quarter) : 0;
  const full = new Set(slots > 0 ? slotMs.flatMap((ms, i) => ((ms ?? 0) > slots * quarter ? [i] : [])) : []);
  const at = (i: number) => start + i * quarter;
  const when = (i: number) => `${f.day(at(i))} ${f.minute(at(i))}`;
  const say = (i: number) => {
    const runs = requested[i - current] ?? 0;
    const ms = slotMs[i];
    return [
      t.plan.firesIn((counts[i] ?? 0) - runs),
      ...(runs > 0 ? [t.plan.requestedRuns(runs)] : []),
      ...(ms === undefined ? [] : [t.plan.slotMinutesOf(minutesOf(ms, f.number))]),
    ].join(" · ");
  };
  const set = (change: { group?: string; by?: "slots"; slower?: (typeof paces)[number] }) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  return (
    <Page
      crumbs={[{ text: t.plan.title, to: "/schedule" }, { text: t.plan.load }]}
      head={<ScheduleTabs on="load" />}
    >
      <div className="pad">
        <div className="filters flat">
          <GroupFilter group={group} onChange={(next) => set({ group: next })} />
          <FilterChip
            name={t.plan.slower}
            options={paces.map((p) => ({ value: p, label: p }))}
            chosen={slower ? [slower] : []}
            onChange={([next]) => set({ slower: next })}
          />
        </div>
        {!query.data ? (
          <Waiting on={query} />
        ) : total + asked === 0 ? (
          <Empty icon={CalendarClock} title={t.plan.none} hint={t.plan.noneHint} />
        ) : (
          <div className="grid loadpage">
            <div className="kpis four">
              <Kpi
                fit
                label={t.plan.planned}
                value={f.number(total)}
                foot={
                  <>
                    {query.data.complete ? t.plan.ofJobs(query.data.jobs) : t.plan.incomplete}
                    {asked > 0 && ` · ${t.plan.requestedRuns(asked)}`}
                  </>
                }
              />
              <Kpi
                fit
                label={t.plan.busiest}
                value={when(busiest)}
                foot={
                  <span className={factor > 1 ? "c-warn" : undefined}>
                    {t.plan.firesIn((counts[busiest] ?? 0) - (requested[busiest - current] ?? 0))}
                    {factor >= 0.05 && ` · ${t.plan.capacity(f.number(Math.round(factor * 10) / 10))}`}
                  </span>
                }
              />
              <Kpi
                fit
                label={t.plan.quietest}
                value={quiet ? `${f.minute(at(quiet.from))}–${f.minute(at(quiet.to))}` : "—"}
                foot={quiet ? t.plan.atMost(quiet.most) : t.plan.alike}
              />
              <Kpi
                fit
                label={t.plan.onTheHour}
                value={total > 0 ? f.percent((minutes[0] ?? 0) / total) : "—"}
                foot={t.plan.onTheHourHint}
              />
            </div>
            <Card
              title={t.plan.loadTitle}
              note={t.plan.loadHint}
              aside={
                <span className="leg">
                  {t.plan.fewer}
                  {[0, 1, 2, 3, 4, 5].map((i) => (
                    <i key={i} className={`heat h-${i}`} />
                  ))}
                  {t.plan.more}
                  {full.size > 0 && (
                    <>
                      <i className="heat h-0 full" />
                      {t.plan.overCapacity}
                    </>
                  )}
                  <Segments
                    label={t.plan.by}
                    value={bySlots ? "slots" : "fires"}
                    options={[
                      { value: "fires", label: t.plan.fires },
                      {
                        value: "slots",
                        label: t.plan.slotMinutes,
                        disabled: query.data.slot_ms === undefined,
                      },
                    ]}
                    onChange={(next) => set({ by: next === "slots" ? "slots" : undefined })}
                  />
                </span>
              }
            >
              <div className="sideways b">
                <HeatMap
                  start={start}
                  values={values}
                  current={current}
                  full={full}
                  shown={shown}
                  onShow={setChosen}
                  say={say}
                />
              </div>
              {shown !== undefined && (
                <div className="sideways b">
                  <DayLoad
                    start={start}
                    values={values}
                    shown={shown}
                    onShow={setChosen}
                    say={say}
                    capacity={bySlots && slots > 0 ? slots * quarter : undefined}
                  />
                </div>
              )}
            </Card>
            {shown !== undefined && (
              <div className="grid loadpair">
                <MinuteCard
                  minutes={minutes}
                  when={when(shown)}
                  onSuggest={mayEdit ? () => setSuggesting(true) : undefined}
                />
                <Drivers
                  key={shown}
                  from={at(shown)}
                  group={group}
                  apart={slower}
                  title={t.plan.drivers(when(shown))}
                  bySlots={bySlots}
                />
              </div>
            )}
            {suggesting && shown !== undefined && (
              <OffsetsDialog
                from={at(shown) - 1}
                to={at(shown) + quarter - 1}
                group={group}
                onClose={() => setSuggesting(false)}
              />
            )}
          </div>
        )}
      </div>
    </Page>
  );
}
