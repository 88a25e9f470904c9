import { Globe } from "lucide-react";
import { useId } from "react";
import type { Schedule } from "@/api/schema.gen";
import { TextField, WallField } from "@/components/fields";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { instantToWall, isZone, localZone, offsetName } from "@/lib/format";
import { type Kind, kindOf } from "@/lib/words";
import { CronField } from "./CronField";
import { EveryField } from "./EveryField";
import { Section, type SectionProps, without } from "./Section";
import { instantOf, wallOf } from "./wall";

const kinds: Kind[] = ["cron", "every", "fixed_rate", "fixed_delay", "once", "manual"];

/** When the job fires, and in which time zone. */
export function ScheduleSection({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
  const zonesId = useId();
  const s: Schedule = doc.schedule ?? {};
  const kind = kindOf(s);
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
  const instant = (wall: string) => set({ once: instantOf(wall, zone) });
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
          value={wallOf(s.once, zone)}
          error={err("once")}
          onChange={instant}
        />
      )}
      {kind === "manual" && <p className="sec">{t.editor.manualHint}</p>}
      {kind !== "cron" && kind !== "manual" && (
        <div className="three">
          <TextField
            label={t.editor.zone}
            value={s.zone ?? ""}
            placeholder="UTC"
            list={zonesId}
            error={err("zone")}
            onChange={(v) => set({ zone: v })}
          />
        </div>
      )}
      <datalist id={zonesId}>
        {["UTC", localZone, ...Intl.supportedValuesOf("timeZone")].map((z, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: UTC and one's own come twice, first among them
          <option key={i} value={z} />
        ))}
      </datalist>
    </Section>
  );
}

/** The date in a zone, as documents write it. */
const today = (zone: string) => instantToWall(new Date().toISOString(), zone).slice(0, 10);
