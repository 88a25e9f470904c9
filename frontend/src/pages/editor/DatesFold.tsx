import { useQuery } from "@tanstack/react-query";
import { calendarsQuery } from "@/api/cluster";
import type { Schedule } from "@/api/schema.gen";
import { FilterChip } from "@/components/FilterChip";
import { Choice, TextField, WallField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { runsElsewhere } from "@/lib/elsewhere";
import { isZone } from "@/lib/format";
import { kindOf } from "@/lib/words";
import { Fold, useSaid } from "./Fold";
import { type SectionProps, without } from "./Section";
import { instantOf, wallOf } from "./wall";

const shifts = ["none", "next", "previous"] as const;

/** On which days a schedule does not fire, how its fires are spread, and what it does when clocks change. */
export function DatesFold({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
  const e = t.editor;
  const said = useSaid();
  const calendars = useQuery(calendarsQuery).data?.items.map((c) => c.definition.calendar) ?? [];
  const s: Schedule = doc.schedule ?? {};
  const kind = kindOf(s);
  const onWall = kind === "cron" || kind === "every";
  const zone = s.zone && isZone(s.zone) ? s.zone : "UTC";
  const set = (change: Partial<Schedule>) => onChange({ ...doc, schedule: without({ ...s, ...change }) });
  const err = (field: string) => errors.get(`schedule.${field}`);
  const instant = (field: "from" | "until" | "anchor") => (wall: string) =>
    set({ [field]: instantOf(wall, zone) });
  // Which of several calendars is wrong, its reason says.
  const noDates = [...errors].find(([field]) => /^schedule\.(except|only)\b/.test(field))?.[1];
  const day = (at: string | undefined) => wallOf(at, zone).replace("T", " ");
  return (
    <Fold
      title={e.dates}
      hint={e.datesHint}
      said={said({
        "schedule.spread": s.spread,
        "schedule.except": s.except?.join(", "),
        "schedule.only": s.only?.join(", "),
        "schedule.shift": s.shift && e.shiftWords[s.shift],
        "schedule.dst": ruleName(s.dst, e.clockRules),
        "schedule.anchor": day(s.anchor),
        "schedule.from": day(s.from),
        "schedule.until": day(s.until),
      })}
    >
      <div className="three">
        {(!runsElsewhere(doc) || s.spread || err("spread")) && (
          <TextField
            label={e.spread}
            mono
            value={s.spread ?? ""}
            placeholder="0s"
            hint={e.spreadHint}
            error={err("spread")}
            onChange={(v) => set({ spread: v })}
          />
        )}
        <div className="f">
          <span className="lab">{t.nav.calendars}</span>
          {calendars.length === 0 && !s.except && !s.only ? (
            <span className="mut pad-y">{e.noCalendar}</span>
          ) : (
            <span className="row g2 wrap">
              <FilterChip
                name={e.skipDates}
                multiple
                options={calendars.map((c) => ({ value: c, label: c }))}
                chosen={s.except ?? []}
                onChange={(except) => set({ except })}
              />
              <FilterChip
                name={e.onlyDates}
                multiple
                options={calendars.map((c) => ({ value: c, label: c }))}
                chosen={s.only ?? []}
                onChange={(only) => set({ only })}
              />
            </span>
          )}
          {noDates && <p className="ferr">{noDates}</p>}
        </div>
        {onWall && (s.shift || s.except?.length || s.only?.length) ? (
          <Choice
            label={e.shift}
            value={s.shift ?? "none"}
            options={shifts.map((v) => ({ value: v, label: e.shiftWords[v] }))}
            error={err("shift")}
            onChange={(v) => set({ shift: v === "none" ? undefined : v })}
          />
        ) : null}
        {onWall && <ClockRule value={s.dst} error={err("dst")} onChange={(dst) => set({ dst })} />}
      </div>
      <div className={kind === "fixed_rate" ? "three" : "two"}>
        {kind === "fixed_rate" && (
          <WallField
            label={e.anchor}
            value={wallOf(s.anchor, zone)}
            hint={e.anchorHint}
            error={err("anchor")}
            onChange={instant("anchor")}
          />
        )}
        <WallField
          label={e.activeFrom}
          value={wallOf(s.from, zone)}
          error={err("from")}
          onChange={instant("from")}
        />
        <WallField
          label={e.activeUntil}
          value={wallOf(s.until, zone)}
          error={err("until")}
          onChange={instant("until")}
        />
      </div>
    </Fold>
  );
}

const clockRules = ["auto", "quartz", "vixie"] as const;

/** What people call a rule that has a name; others as they are. */
const ruleName = (rule: string | undefined, names: Record<(typeof clockRules)[number], string>) => {
  const known = clockRules.find((r) => r === rule);
  return known ? names[known] : rule;
};

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
  const t = useEditorT();
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
