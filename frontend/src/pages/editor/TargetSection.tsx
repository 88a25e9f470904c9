import type { Job } from "@/api/schema.gen";
import { DurationField, NumberField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { Section, type SectionProps, without } from "./Section";

/** What the runs that the schedule asks for must reach. No fire depends on it. */
export function TargetSection({ doc, onChange, errors }: SectionProps) {
  const e = usePageT().editor;
  const set = (change: Partial<NonNullable<Job["target"]>>) => {
    const target = without({ ...doc.target, ...change });
    onChange(without({ ...doc, target: Object.keys(target).length > 0 ? target : undefined }));
  };
  return (
    <Section title={e.target} hint={e.targetHint}>
      <div className="two">
        <NumberField
          label={e.successRate}
          min={0}
          max={100}
          step="any"
          placeholder="99.5"
          value={doc.target?.success_rate}
          hint={e.successRateHint}
          error={errors.get("target.success_rate") ?? errors.get("target")}
          onChange={(success_rate) => set({ success_rate })}
        />
        <DurationField
          label={e.startDelay}
          placeholder="5m"
          value={doc.target?.start_delay}
          hint={e.startDelayHint}
          error={errors.get("target.start_delay")}
          onChange={(start_delay) => set({ start_delay })}
        />
      </div>
    </Section>
  );
}
