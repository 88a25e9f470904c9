import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { rulesQuery } from "@/api/alerts";
import type { Alert, Job } from "@/api/schema.gen";
import { DurationField, NumberField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { whenInWords } from "@/pages/alerts/conditions";
import { covers } from "@/pages/alerts/covers";
import { Severity } from "@/pages/alerts/Severity";
import { Fold, useSaid } from "./Fold";
import { type SectionProps, without } from "./Section";

/** What the scheduled runs must reach, and the alert rules that notify people of runs that fail. No fire depends on them. */
export function TargetFold({ doc, onChange, errors }: SectionProps) {
  const e = useEditorT().editor;
  const said = useSaid();
  const rules = useQuery(rulesQuery).data?.items.map((item) => item.definition);
  const covering = rules?.filter((rule) => covers(rule, doc)) ?? [];
  const silent = rules && covering.every((rule) => !rule.channels?.length);
  const set = (change: Partial<NonNullable<Job["target"]>>) => {
    const target = without({ ...doc.target, ...change });
    onChange(without({ ...doc, target: Object.keys(target).length > 0 ? target : undefined }));
  };
  return (
    <Fold
      title={e.target}
      hint={e.targetHint}
      said={[
        ...said({
          "target.success_rate": doc.target?.success_rate && `${doc.target.success_rate}%`,
          "target.start_delay": doc.target?.start_delay,
        }),
        ...covering.map((rule) => ({ value: rule.alert })),
      ]}
      warning={silent ? (covering.length === 0 ? e.noAlerts : e.noChannel) : undefined}
    >
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
      <Rules rules={covering} />
    </Fold>
  );
}

/** Who is notified when a run of the job goes wrong. */
function Rules({ rules }: { rules: Alert[] }) {
  const t = useEditorT();
  const e = t.editor;
  return (
    <>
      <p className="hint">{e.alertsHint}</p>
      {rules.length > 0 && (
        <ul aria-label={e.alerts}>
          {rules.map((rule) => (
            <li key={rule.alert} className="li flat">
              <Severity of={rule.severity ?? "warning"} />
              <b className="trunc">{rule.alert}</b>
              <span className="sec grow trunc">{whenInWords(rule.when, t)}</span>
              <span className={rule.channels?.length ? "mut trunc" : "c-warn"}>
                {rule.channels?.join(", ") || e.noChannel}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Link to="/alerts/$tab" params={{ tab: "rules" }} className="textlink">
        {e.openRules}
      </Link>
    </>
  );
}
