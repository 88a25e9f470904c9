import type { Channel } from "@/api/schema.gen";
import { Check, TextField } from "@/components/fields";
import { usePageT } from "@/i18n";

interface MonthMailProps {
  value: Channel["month_report"];
  onChange(value: Channel["month_report"]): void;
}

const parts = ["group", "owner", "tag"] as const;

/** The fields of a monthly report by mail: on or off, the day, and the jobs that it covers. */
export function MonthMail({ value, onChange }: MonthMailProps) {
  const { alerts: a, month } = usePageT();
  return (
    <>
      <Check
        label={a.monthMail}
        checked={value !== undefined}
        onChange={(on) => onChange(on ? { day: 1 } : undefined)}
      />
      {value && (
        <div className="two">
          <TextField
            label={a.monthDay}
            type="number"
            min={1}
            max={28}
            value={value.day ? String(value.day) : ""}
            placeholder="1"
            hint={a.monthDayHint}
            onChange={(day) => onChange({ ...value, day: day === "" ? undefined : Number(day) })}
          />
          {parts.map((part) => (
            <TextField
              key={part}
              label={month.of[part]}
              optional
              value={value[part] ?? ""}
              placeholder={month.all}
              onChange={(text) => onChange({ ...value, [part]: text.trim() || undefined })}
            />
          ))}
        </div>
      )}
    </>
  );
}
