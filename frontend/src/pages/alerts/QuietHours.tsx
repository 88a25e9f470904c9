import type { Channel } from "@/api/schema.gen";
import { Check, TextField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { isZone, localZone } from "@/lib/format";

interface QuietHoursProps {
  value: Channel["quiet_hours"];
  onChange(value: Channel["quiet_hours"]): void;
}

/** From when to when a channel keeps what is not critical for later. */
export function QuietHours({ value, onChange }: QuietHoursProps) {
  const { alerts: a } = usePageT();
  return (
    <>
      <Check
        label={a.quiet}
        checked={value !== undefined}
        onChange={(on) => onChange(on ? { from: "22:00", to: "07:00", zone: localZone } : undefined)}
      />
      {value && (
        <div className="two">
          <TextField
            label={a.quietFrom}
            mono
            value={value.from}
            placeholder="22:00"
            onChange={(from) => onChange({ ...value, from: from.trim() })}
          />
          <TextField
            label={a.quietTo}
            mono
            value={value.to}
            placeholder="07:00"
            onChange={(to) => onChange({ ...value, to: to.trim() })}
          />
          <TextField
            label={a.quietZone}
            mono
            value={value.zone ?? ""}
            placeholder="UTC"
            error={isZone(value.zone ?? "UTC") ? undefined : a.noZone}
            onChange={(zone) => onChange({ ...value, zone: zone.trim() || undefined })}
          />
        </div>
      )}
    </>
  );
}
