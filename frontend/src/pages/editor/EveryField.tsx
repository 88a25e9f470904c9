import { useState } from "react";
import { Choice, NumberField, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import type { Weekday } from "@/lib/cron";
import {
  type Every,
  type EveryUnit,
  everyUnits,
  intervalOf,
  splitTexts,
  textsOf,
  unitOf,
} from "@/lib/interval";
import { scheduleInWords } from "@/lib/words";
import { without } from "./Section";
import { Days } from "./SentenceBuilder";

interface EveryFieldProps {
  value: Every;
  onChange(value: Every): void;
  /** What is wrong with a field of it, or with "" in all. */
  error(field: string): string | undefined;
}

/** An interval of the calendar: how many of what, on which of their days, at what times, from which date. */
export function EveryField({ value, onChange, error }: EveryFieldProps) {
  const t = useEditorT();
  const e = t.editor.calendarInterval;
  const unit = unitOf(value);
  const set = (change: Partial<Every>) => onChange(without({ ...value, ...change }));
  const toUnit = (next: EveryUnit) => {
    const { days: _d, weeks: _w, months: _m, years: _y, on: _o, ...rest } = value;
    onChange({ ...rest, [next]: value[unit] ?? 1 });
  };
  return (
    <div className="cronfield">
      <div className="three">
        <NumberField
          label={t.editor.every}
          min={1}
          max={366}
          value={value[unit]}
          error={error(unit)}
          onChange={(n) => onChange({ ...value, [unit]: n })}
        />
        <Choice
          label={e.unit}
          value={unit}
          options={everyUnits.map((u) => ({ value: u, label: e.units[u] }))}
          onChange={toUnit}
        />
        <TextField
          label={e.from}
          mono
          placeholder="2026-11-29"
          value={value.from ?? ""}
          hint={e.fromHint}
          error={error("from")}
          onChange={(from) => onChange({ ...value, from })}
        />
      </div>
      <div className="two">
        {unit === "weeks" && (
          <div className="f">
            <span className="lab">{e.on}</span>
            <Days
              days={intervalOf(value).days}
              onChange={(days: Weekday[]) => set({ on: days.map((d) => d.toLowerCase()) })}
            />
            {error("on") && <p className="ferr">{error("on")}</p>}
          </div>
        )}
        {(unit === "months" || unit === "years") && (
          <Texts
            label={e.on}
            value={textsOf(value.on)}
            placeholder="31, last day, 2nd tue, last fri"
            hint={e.onHint}
            error={error("on")}
            onChange={(on) => set({ on })}
          />
        )}
        <Texts
          label={e.at}
          value={textsOf(value.at)}
          placeholder="09:00, 17:30"
          hint={e.atHint}
          error={error("at")}
          onChange={(at) => onChange({ ...value, at })}
        />
      </div>
      {error("") ? (
        <p className="ferr" role="alert">
          {error("")}
        </p>
      ) : (
        <p>{scheduleInWords({ every: value }, t)}</p>
      )}
    </div>
  );
}

interface TextsProps {
  label: string;
  value: string[];
  placeholder: string;
  hint: string;
  error: string | undefined;
  onChange(texts: string[]): void;
}

/** Several short texts in a line, separated by commas. What one types stays as it is while it says the same. */
function Texts({ value, onChange, ...rest }: TextsProps) {
  const [text, setText] = useState(value.join(", "));
  const shown = splitTexts(text).join() === value.join() ? text : value.join(", ");
  return (
    <TextField
      {...rest}
      mono
      value={shown}
      onChange={(next) => {
        setText(next);
        onChange(splitTexts(next));
      }}
    />
  );
}
