import { useT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, type PauseEnd, pauseEnds } from "@/lib/pause";
import { Choice, WallField } from "./fields";

interface PauseEndFieldProps {
  value: PauseEnd;
  onChange(value: PauseEnd): void;
}

/** When a pause ends by itself: never, after a while, tomorrow morning, or at an instant. */
export function PauseEndField({ value, onChange }: PauseEndFieldProps) {
  const t = useT();
  const f = useFormat();
  const now = useNow();
  const at = endOf(value, now, f.zone);
  const bad = at !== undefined && Number.isNaN(at);
  return (
    <>
      <Choice
        label={t.pause.until}
        value={value.choice}
        options={pauseEnds.map((choice) => ({ value: choice, label: t.pause.ends[choice] }))}
        onChange={(choice) => onChange({ ...value, choice })}
        hint={at !== undefined && !bad ? t.pause.resumes(f.short(at, now)) : undefined}
      />
      {value.choice === "at" && (
        <WallField
          label={t.pause.at(f.zone)}
          value={value.wall}
          error={bad && value.wall ? t.pause.ahead : undefined}
          onChange={(wall) => onChange({ ...value, wall })}
        />
      )}
    </>
  );
}
