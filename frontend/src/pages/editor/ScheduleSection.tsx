import { useQuery } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { useId } from "react";
import { calendarsQuery } from "@/api/cluster";
import type { Schedule } from "@/api/schema.gen";
import { FilterChip } from "@/components/FilterChip";
import { Choice, TextField, WallField } from "@/components/fields";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { instantToWall, isZone, localZone, offsetName, wallToInstant } from "@/lib/format";
import { type Kind, kindOf } from "@/lib/words";
import { CronField } from "./CronField";
import { EveryField } from "./EveryField";
import { Section, type SectionProps, without } from "./Section";

const kinds: Kind[] = ["cron", "every", "fixed_rate", "fixed_delay", "once", "manual"];
const shifts = ["none", "next", "previous"] as const;

export function ScheduleSection({ doc, onChange, errors }: SectionProps) {
  const t = usePageT();
  const calendars = useQuery(calendarsQuery).data?.items.map((c) => c.definition.calendar) ?? [];
  const zonesId = useId();
  const s: Schedule = doc.schedule ?? {};
  const kind = kindOf(s);
  const onWall = kind === "cron" || kind === "every";
  const zone = s.zone && isZone(s.zone) ? s.zone : "UTC";
  const set = (change: Partial<Schedule>) => onChange({ ...doc, schedule: without({ ...s, ...change }) });
  const err = (field: string) => errors.get(`schedule.${field}`);
  const toKind = (next: Kind) => {
    const {
      cron: _c,
      every: _e,
      fixed_rate: _r,
      fixed_delay: _d,
      once: _o,
      anchor: _a,
      dst,
      shift,
      ...rest
    } = s;
    const kept = next === "cron" || next === "every" ? { dst, shift } : {};
    const fresh: Record<Kind, Partial<Schedule>> = {
      cron: { cron: "0 3 * * *" },
      every: { every: { weeks: 2, at: ["09:00"], from: today(zone) } },
      fixed_rate: { fixed_rate: "5m" },
      fixed_delay: { fixed_delay: "5m" },
      once: { once: new Date(Math.ceil(Date.now() / 3600e3 + 1) * 3600e3).toISOString() },
      manual: {},
    };
    onChange({ ...doc, schedule: without({ ...rest, ...kept, ...fresh[next] }) });
  };
  const instant = (field: "once" | "from" | "until" | "anchor") => (wall: string) =>
    set({ [field]: wall === "" ? undefined : new Date(wallToInstant(wall, zone)).toISOString() });
  const wall = (at: string | undefined) => (at ? instantToWall(at, zone) : "");
  return (
    <Section title={t.editor.schedule} hint={t.editor.scheduleHint}>
      <Segments
        label={t.editor.schedule}
        value={kind}
        options={kinds.map((k) => ({ value: k, label: t.editor.kinds[k] }))}
        onChange={toKind}
      />
      {kind === "cron" && (
        <CronField value={s.cron ?? ""} onChange={(cron) => set({ cron })} error={err("cron")}>
          <span className="row g2">
            <span>{t.editor.inZone}</span>
            <span className={err("zone") ? "inp zone bad" : "inp zone"}>
              <Globe size={14} aria-hidden />
              <input
                aria-label={t.editor.zone}
                aria-invalid={err("zone") !== undefined || undefined}
                placeholder="UTC"
                autoComplete="off"
                spellCheck={false}
                list={zonesId}
                value={s.zone ?? ""}
                onChange={(e) => set({ zone: e.target.value.trim() })}
              />
              <span className="mut num">{offsetName(zone, Date.now())}</span>
            </span>
          </span>
        </CronField>
      )}
      {kind === "cron" && err("zone") && <p className="ferr">{err("zone")}</p>}
      {kind === "every" && s.every && (
        <EveryField
          value={s.every}
          onChange={(every) => set({ every })}
          error={(field) => err(field ? `every.${field}` : "every")}
        />
      )}
      {kind === "fixed_rate" && (
        <TextField
          label={t.editor.interval}
          mono
          value={s.fixed_rate ?? ""}
          hint={t.editor.intervalHint}
          error={err("fixed_rate")}
          onChange={(v) => onChange({ ...doc, schedule: { ...s, fixed_rate: v } })}
        />
      )}
      {kind === "fixed_delay" && (
        <TextField
          label={t.editor.afterFinish}
          mono
          value={s.fixed_delay ?? ""}
          hint={t.editor.afterHint}
          error={err("fixed_delay")}
          onChange={(v) => onChange({ ...doc, schedule: { ...s, fixed_delay: v } })}
        />
      )}
      {kind === "once" && (
        <WallField
          label={t.editor.onceAt}
          value={wall(s.once)}
          error={err("once")}
          onChange={instant("once")}
        />
      )}
      {kind === "manual" && <p className="sec">{t.editor.manualHint}</p>}
      {kind !== "manual" && (
        <>
          <div className="three">
            {kind !== "cron" && (
              <TextField
                label={t.editor.zone}
                value={s.zone ?? ""}
                placeholder="UTC"
                list={zonesId}
                error={err("zone")}
                onChange={(v) => set({ zone: v })}
              />
            )}
            <TextField
              label={t.editor.spread}
              mono
              value={s.spread ?? ""}
              placeholder="0s"
              hint={t.editor.spreadHint}
              error={err("spread")}
              onChange={(v) => set({ spread: v })}
            />
            <div className="f">
              <span className="lab">{t.nav.calendars}</span>
              {calendars.length === 0 && !s.except && !s.only ? (
                <span className="mut pad-y">{t.editor.noCalendar}</span>
              ) : (
                <span className="row g2 wrap">
                  <FilterChip
                    name={t.editor.skipDates}
                    multiple
                    options={calendars.map((c) => ({ value: c, label: c }))}
                    chosen={s.except ?? []}
                    onChange={(except) => set({ except })}
                  />
                  <FilterChip
                    name={t.editor.onlyDates}
                    multiple
                    options={calendars.map((c) => ({ value: c, label: c }))}
                    chosen={s.only ?? []}
                    onChange={(only) => set({ only })}
                  />
                </span>
              )}
            </div>
            {onWall && (s.shift || s.except?.length || s.only?.length) ? (
              <Choice
                label={t.editor.shift}
                value={s.shift ?? "none"}
                options={shifts.map((v) => ({ value: v, label: t.editor.shiftWords[v] }))}
                error={err("shift")}
                onChange={(v) => set({ shift: v === "none" ? undefined : v })}
              />
            ) : null}
            {onWall && <ClockRule value={s.dst} error={err("dst")} onChange={(dst) => set({ dst })} />}
          </div>
          <div className={kind === "fixed_rate" ? "three" : "two"}>
            {kind === "fixed_rate" && (
              <WallField
                label={t.editor.anchor}
                value={wall(s.anchor)}
                hint={t.editor.anchorHint}
                error={err("anchor")}
                onChange={instant("anchor")}
              />
            )}
            <WallField
              label={t.editor.activeFrom}
              value={wall(s.from)}
              error={err("from")}
              onChange={instant("from")}
            />
            <WallField
              label={t.editor.activeUntil}
              value={wall(s.until)}
              error={err("until")}
              onChange={instant("until")}
            />
          </div>
          <datalist id={zonesId}>
            {["UTC", localZone, ...Intl.supportedValuesOf("timeZone")].map((z, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: UTC and one's own come twice, first among them
              <option key={i} value={z} />
            ))}
          </datalist>
        </>
      )}
    </Section>
  );
}

/** The date in a zone, as documents write it. */
const today = (zone: string) => instantToWall(new Date().toISOString(), zone).slice(0, 10);

const clockRules = ["auto", "quartz", "vixie"] as const;

/** What happens to fires when clocks are moved. A rule that was put together by hand stays to be chosen. */
function ClockRule({
  value = "auto",
  error,
  onChange,
}: {
  value?: string;
  error: string | undefined;
  onChange(rule: string | undefined): void;
}) {
  const t = usePageT();
  const words = t.editor.clockRules;
  const known = clockRules.find((r) => r === value);
  return (
    <Choice
      label={t.editor.clockRule}
      value={value}
      options={[
        ...clockRules.map((r) => ({ value: r as string, label: words[r] })),
        ...(known ? [] : [{ value, label: value }]),
      ]}
      error={error}
      onChange={(rule) => onChange(rule === "auto" ? undefined : rule)}
    />
  );
}
