import type { Job } from "@/api/schema.gen";
import { DurationField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { Section, type SectionProps, without } from "./Section";

const limits = [
  ["timeout", "10m"],
  ["total_timeout", "1h"],
  ["warn_after", "5m"],
  ["kill_grace", "5s"],
  ["start_within", "15m"],
] as const;

/** How long things may take. An empty field is no limit. */
export function LimitsSection({ doc, onChange, errors }: SectionProps) {
  const e = usePageT().editor;
  const set = (change: Partial<Job>) => onChange(without({ ...doc, ...change }));
  return (
    <Section title={e.limits} hint={e.limitsHint}>
      <div className="three">
        {limits.map(([field, example]) => (
          <DurationField
            key={field}
            label={e.limit[field]}
            placeholder={example}
            value={doc[field]}
            hint={e.limitHints[field]}
            error={errors.get(field)}
            onChange={(value) => set({ [field]: value })}
          />
        ))}
      </div>
    </Section>
  );
}
