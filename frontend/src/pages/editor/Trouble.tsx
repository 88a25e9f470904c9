import type { Misfire } from "@/api/schema.gen";
import { useT } from "@/i18n";
import { Choice, Section, type SectionProps, TextField, without } from "./fields";

const policies = ["skip", "fire_once", "fire_all"] as const;
const deliveries = ["at_least_once", "at_most_once"] as const;

export function Trouble({ doc, onChange, errors }: SectionProps) {
  const t = useT();
  const e = t.editor;
  const m: Misfire = doc.misfire ?? {};
  const policy = m.policy ?? "fire_once";
  const setMisfire = (change: Partial<Misfire>) =>
    onChange({ ...doc, misfire: without({ ...m, ...change }) });
  return (
    <Section title={e.trouble} hint={e.troubleHint}>
      <div className="two">
        <Choice
          label={e.missed}
          value={policy}
          options={policies.map((p) => ({ value: p, label: t.job.misfire[p] ?? p }))}
          hint={e.missedHint(m.grace ?? "15s")}
          onChange={(next) => setMisfire({ policy: next })}
        />
        <TextField
          label={e.grace}
          mono
          placeholder="15s"
          value={m.grace ?? ""}
          error={errors.get("misfire.grace")}
          onChange={(grace) => setMisfire({ grace })}
        />
        {policy === "fire_all" && (
          <>
            <TextField
              label={e.maxCount}
              type="number"
              value={m.max_count === undefined ? "" : String(m.max_count)}
              error={errors.get("misfire.max_count")}
              onChange={(v) => setMisfire({ max_count: v === "" ? undefined : Number(v) })}
            />
            <TextField
              label={e.maxAge}
              mono
              placeholder="24h"
              value={m.max_age ?? ""}
              error={errors.get("misfire.max_age")}
              onChange={(max_age) => setMisfire({ max_age })}
            />
          </>
        )}
        <Choice
          label={e.delivery}
          value={doc.delivery ?? "at_least_once"}
          options={deliveries.map((d) => ({ value: d, label: e.deliveryWords[d] ?? d }))}
          onChange={(delivery) => onChange({ ...doc, delivery })}
        />
        <TextField
          label={e.timeout}
          mono
          placeholder="10m"
          value={doc.timeout ?? ""}
          hint={e.timeoutHint}
          error={errors.get("timeout")}
          onChange={(timeout) => onChange(without({ ...doc, timeout }))}
        />
      </div>
    </Section>
  );
}
