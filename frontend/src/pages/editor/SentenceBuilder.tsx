import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { useEditorT } from "@/i18n";
import { type MonthDay, type Sentence, sameMinute, type Weekday, weekdays } from "@/lib/cron";

interface SentenceBuilderProps {
  value: Sentence;
  onChange(next: Sentence): void;
  /** It only shows how it would look: the expression says more than a sentence can. */
  dimmed?: boolean;
  /** What comes last in the line: in which time zone. */
  children?: ReactNode;
}

type Unit = Sentence["every"];
const units: Unit[] = ["second", "minute", "hour", "day", "week", "month", "year"];
const minuteSteps = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30];
const hourSteps = [1, 2, 3, 4, 6, 8, 12];

const timesOf = (s: Sentence): string[] => ("times" in s ? s.times : ["03:00"]);

function toUnit(s: Sentence, every: Unit): Sentence {
  const times = timesOf(s);
  switch (every) {
    case "second":
      return { every, n: 10 };
    case "minute":
      return { every, n: 5 };
    case "hour":
      return { every, n: 1, minute: 0 };
    case "day":
      return { every, times };
    case "week":
      return { every, days: ["MON", "TUE", "WED", "THU", "FRI"], times };
    case "month":
      return { every, on: { kind: "days", days: [1] }, times };
    case "year":
      return { every, month: 1, day: 1, times };
  }
}

/** A schedule as a sentence of choices. */
export function SentenceBuilder({ value: s, onChange, dimmed, children }: SentenceBuilderProps) {
  const t = useEditorT();
  const e = t.editor;
  const steps =
    s.every === "minute" || s.every === "second" ? minuteSteps : s.every === "hour" ? hourSteps : undefined;
  return (
    <div className="sentence">
      <fieldset className={dimmed ? "sentence dim" : "sentence"} disabled={dimmed}>
        <span>{e.every}</span>
        {steps && "n" in s && (
          <select
            className="select"
            aria-label={e.every}
            value={s.n}
            onChange={(x) => onChange({ ...s, n: Number(x.target.value) })}
          >
            {[...new Set([...steps, s.n])]
              .sort((a, b) => a - b)
              .map((n) => (
                <option key={n}>{n}</option>
              ))}
          </select>
        )}
        <select
          className="select"
          aria-label={e.unit}
          value={s.every}
          onChange={(x) => {
            const unit = units.find((u) => u === x.target.value);
            if (unit) onChange(toUnit(s, unit));
          }}
        >
          {units.map((u) => (
            <option key={u} value={u}>
              {e.units[u]}
            </option>
          ))}
        </select>
        {s.every === "hour" && (
          <>
            <span>{e.atMinute}</span>
            <NumberBox
              label={e.atMinute}
              min={0}
              max={59}
              value={s.minute}
              onChange={(minute) => onChange({ ...s, minute })}
            />
          </>
        )}
        {s.every === "week" && (
          <>
            <span>{e.on}</span>
            <Days days={s.days} onChange={(days) => onChange({ ...s, days })} />
          </>
        )}
        {s.every === "month" && (
          <>
            <span>{e.on}</span>
            <MonthDayChoice on={s.on} onChange={(on) => onChange({ ...s, on })} />
          </>
        )}
        {s.every === "year" && (
          <>
            <span>{e.on}</span>
            <NumberBox
              label={e.onDays}
              min={1}
              max={31}
              value={s.day}
              onChange={(day) => onChange({ ...s, day })}
            />
            <select
              className="select"
              aria-label={e.units.month}
              value={s.month}
              onChange={(x) => onChange({ ...s, month: Number(x.target.value) })}
            >
              {t.monthNames.map((name, i) => (
                <option key={name} value={i + 1}>
                  {name}
                </option>
              ))}
            </select>
          </>
        )}
        {"times" in s && (
          <>
            <span>{e.at}</span>
            <Times times={s.times} onChange={(times) => onChange({ ...s, times })} />
          </>
        )}
      </fieldset>
      {children}
    </div>
  );
}

interface NumberBoxProps {
  label: string;
  min: number;
  max: number;
  value: number;
  onChange(n: number): void;
}

function NumberBox({ label, min, max, value, onChange }: NumberBoxProps) {
  return (
    <span className="inp narrow">
      <input
        type="number"
        aria-label={label}
        min={min}
        max={max}
        value={value}
        onChange={(e) => {
          const n = Math.floor(Number(e.target.value));
          if (n >= min && n <= max) onChange(n);
        }}
      />
    </span>
  );
}

/** Chips of the week. The last chosen one stays: a week without a day is no schedule. */
export function Days({ days, onChange }: { days: Weekday[]; onChange(days: Weekday[]): void }) {
  const t = useEditorT();
  const toggle = (day: Weekday) => {
    const next = weekdays.filter((d) => (d === day ? !days.includes(d) : days.includes(d)));
    if (next.length > 0) onChange(next);
  };
  return (
    <span className="row g1 wrap">
      {weekdays.map((d) => (
        <button
          type="button"
          key={d}
          className={days.includes(d) ? "day on" : "day"}
          aria-pressed={days.includes(d)}
          title={t.dayNames[d]}
          onClick={() => toggle(d)}
        >
          {t.shortDays[d]}
        </button>
      ))}
    </span>
  );
}

function MonthDayChoice({ on, onChange }: { on: MonthDay; onChange(on: MonthDay): void }) {
  const t = useEditorT();
  const e = t.editor;
  const kinds: Record<MonthDay["kind"], MonthDay> = {
    days: { kind: "days", days: [1] },
    last: { kind: "last" },
    nth: { kind: "nth", nth: 1, day: "MON" },
  };
  return (
    <>
      <select
        className="select"
        aria-label={e.on}
        value={on.kind}
        onChange={(x) => {
          const kind = (["days", "last", "nth"] as const).find((k) => k === x.target.value);
          if (kind) onChange(kinds[kind]);
        }}
      >
        <option value="days">{e.onDays}</option>
        <option value="last">{e.onLast}</option>
        <option value="nth">{e.onNth}</option>
      </select>
      {on.kind === "days" && (
        <span className="inp days">
          <input
            aria-label={e.onDays}
            defaultValue={on.days.join(", ")}
            onBlur={(x) => {
              const days = [...new Set(x.target.value.split(/[^0-9]+/).map(Number))].filter(
                (n) => n >= 1 && n <= 31,
              );
              if (days.length > 0) onChange({ kind: "days", days: days.sort((a, b) => a - b) });
              x.target.value = (days.length > 0 ? days : on.days).join(", ");
            }}
          />
        </span>
      )}
      {on.kind === "nth" && (
        <>
          <select
            className="select"
            aria-label={e.onNth}
            value={on.nth}
            onChange={(x) => onChange({ ...on, nth: Number(x.target.value) })}
          >
            {[1, 2, 3, 4, 5].map((n) => (
              <option key={n} value={n}>
                {e.nth[n]}
              </option>
            ))}
          </select>
          <select
            className="select"
            aria-label={e.cells.weekday}
            value={on.day}
            onChange={(x) => onChange({ ...on, day: weekdays.find((d) => d === x.target.value) ?? "MON" })}
          >
            {weekdays.map((d) => (
              <option key={d} value={d}>
                {t.dayNames[d]}
              </option>
            ))}
          </select>
        </>
      )}
    </>
  );
}

/** Reads a time as people type it: 2:00, 14:30, 0230 or 9. */
function clockOf(text: string): string | undefined {
  const [, h, m = "00"] = /^\s*(\d{1,2})[:.h]?(\d{2})?\s*$/.exec(text) ?? [];
  if (h === undefined || Number(h) > 23 || Number(m) > 59) return undefined;
  return `${h.padStart(2, "0")}:${m}`;
}

function Times({ times, onChange }: { times: string[]; onChange(times: string[]): void }) {
  const t = useEditorT();
  const set = (i: number, time: string) => {
    // All times of an expression share its minute: a new one takes along the others.
    const next = times.map((was, at) =>
      at === i ? time : sameMinute([was, time]) ? was : was.slice(0, 3) + time.slice(3),
    );
    onChange([...new Set(next)].sort());
  };
  const add = () => {
    const last = times.at(-1) ?? "03:00";
    const hour = (Number(last.slice(0, 2)) + 1) % 24;
    onChange([...new Set([...times, `${String(hour).padStart(2, "0")}${last.slice(2)}`])].sort());
  };
  return (
    <span className="row g1 wrap">
      {times.map((time, i) => (
        <span key={time} className="inp time">
          <input
            className="mono"
            aria-label={t.editor.at}
            defaultValue={time}
            inputMode="numeric"
            onBlur={(e) => {
              const next = clockOf(e.target.value);
              if (next) set(i, next);
              else e.target.value = time;
            }}
            onKeyDown={(e) => e.key === "Enter" && e.currentTarget.blur()}
          />
          {times.length > 1 && (
            <button
              type="button"
              className="clear"
              aria-label={t.editor.removeTime}
              onClick={() => onChange(times.filter((x) => x !== time))}
            >
              <X size={13} aria-hidden />
            </button>
          )}
        </span>
      ))}
      <button
        type="button"
        className="ic"
        aria-label={t.editor.addTime}
        title={t.editor.addTime}
        onClick={add}
      >
        <Plus size={15} aria-hidden />
      </button>
    </span>
  );
}
