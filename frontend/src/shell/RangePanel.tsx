import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { retentionQuery } from "@/api/retention";
import { Button } from "@/components/Button";
import { Choice, WallField } from "@/components/fields";
import { formatDuration } from "@/lib/duration";
import { instantToWall, localZone, usePageWords, wallToInstant } from "@/lib/format";
import { dateIn } from "@/lib/month";
import { useNow } from "@/lib/now";
import { longestKept } from "@/lib/retention";
import {
  addDays,
  calendarRanges,
  isLength,
  lengths,
  type RangeName,
  type RangeSearch,
  startOfDay,
} from "@/lib/timerange";
import { DayGrid } from "./DayGrid";
import type { Ranged } from "./useRange";
import "@/styles/range.css";

interface RangePanelProps {
  of: Ranged;
  jobZone?: string | undefined;
  onChoose(search: RangeSearch, name?: RangeName): void;
}

/** All ranges that a page offers: by name, by days of a calendar, and from one instant to another. */
export default function RangePanel({ of, jobZone, onChoose }: RangePanelProps) {
  const { t, f } = usePageWords();
  const r = t.range;
  const now = useNow();
  const [zone, setZone] = useState(of.range.zone);
  const first = of.range.name === "all" ? { from: startOfDay(dateIn(zone, now), zone), to: now } : of.range;
  const [from, setFrom] = useState(instantToWall(first.from, zone));
  const [to, setTo] = useState(instantToWall(first.to, zone));
  const box = useRef<HTMLDivElement>(null);
  const retention = useQuery(retentionQuery).data?.retention;
  useEffect(() => {
    const find = (what: string) => box.current?.querySelector<HTMLElement>(what);
    (find("[aria-pressed=true]") ?? find("button"))?.focus();
  }, []);

  const named = zone === f.zone ? undefined : zone;
  const ends = from && to ? [wallToInstant(from, zone), wallToInstant(to, zone)] : undefined;
  const wrong = ends !== undefined && (ends[0] ?? 0) >= (ends[1] ?? 0);
  const pick = (name: RangeName) =>
    onChoose({ range: name, zone: isLength(name) || name === "all" ? undefined : named }, name);
  const name = (key: RangeName) => (isLength(key) ? key : t.rangeNames[key]);
  const preset = (key: RangeName) => (
    <button
      type="button"
      key={key}
      className={key === of.range.name ? "preset on" : "preset"}
      aria-pressed={key === of.range.name}
      onClick={() => pick(key)}
    >
      {name(key)}
    </button>
  );
  const group = (label: string, keys: readonly RangeName[]) => {
    const offered = keys.filter((key) => of.offers.includes(key));
    return (
      offered.length > 0 && (
        <fieldset>
          <legend>{label}</legend>
          {offered.map(preset)}
        </fieldset>
      )
    );
  };
  const zones = [...new Set([localZone, f.zone, "UTC", ...(jobZone ? [jobZone] : []), zone])];
  return (
    <div className="rangepanel" role="dialog" aria-label={r.title} ref={box}>
      <div className="presets">
        {group(r.upToNow, lengths)}
        {group(r.days, calendarRanges)}
        {group("", ["all"])}
      </div>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (!ends || wrong) return;
          const [a, b] = ends.map((ms) => new Date(ms).toISOString());
          onChoose({ from: a, to: b, zone: named });
        }}
      >
        <DayGrid
          firstDay={of.firstDay}
          today={dateIn(zone, now)}
          from={from.slice(0, 10)}
          to={to.endsWith("00:00") ? addDays(to.slice(0, 10), -1) : to.slice(0, 10)}
          onChange={(a, b) => {
            setFrom(instantToWall(startOfDay(a, zone), zone));
            setTo(instantToWall(startOfDay(addDays(b, 1), zone), zone));
          }}
        />
        <div className="two">
          <WallField label={r.from} value={from} onChange={setFrom} />
          <WallField label={r.to} value={to} onChange={setTo} />
        </div>
        <Choice
          label={r.zone}
          value={zone}
          options={zones.map((z) => ({ value: z, label: zoneLabel(z) }))}
          onChange={setZone}
        />
        <div className="row g2">
          <p className={wrong ? "grow c-bad" : "grow mut"} role="status">
            {wrong
              ? r.order
              : [
                  ends && r.lasts(formatDuration((ends[1] ?? 0) - (ends[0] ?? 0))),
                  retention && r.kept(f.in(zone).day(now - longestKept(retention, of.shows))),
                ]
                  .filter(Boolean)
                  .join(" · ")}
          </p>
          <Button look="primary" small type="submit" disabled={!ends || wrong}>
            {r.apply}
          </Button>
        </div>
      </form>
    </div>
  );

  function zoneLabel(z: string): string {
    if (z === jobZone) return `${z} · ${r.zones.job}`;
    return z === localZone ? `${z} · ${r.zones.browser}` : z;
  }
}
