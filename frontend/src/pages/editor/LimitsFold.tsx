import type { Job } from "@/api/schema.gen";
import { Choice, CountField, DurationField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { runsElsewhere } from "@/lib/elsewhere";
import { Fold, useSaid } from "./Fold";
import { RetryRule } from "./RetryRule";
import { isWrong, type SectionProps, without } from "./Section";

const deliveries = ["at_least_once", "at_most_once"] as const;
const limits = [
  ["timeout", "10m"],
  ["total_timeout", "1h"],
  ["warn_after", "5m"],
  ["kill_grace", "5s"],
  ["start_within", "15m"],
] as const;
/** Of these, what also those can have whose runs are done elsewhere. */
const anywhere: readonly string[] = ["timeout", "warn_after"];

/** How long things may take, and how often they are tried. An empty field is no limit. */
export function LimitsFold(props: SectionProps) {
  const { doc, onChange, errors } = props;
  const e = useEditorT().editor;
  const said = useSaid();
  const elsewhere = runsElsewhere(doc);
  const shown = limits.filter(([field]) => !elsewhere || anywhere.includes(field) || errors.has(field));
  const set = (change: Partial<Job>) => onChange(without({ ...doc, ...change }));
  return (
    <Fold
      title={e.limits}
      hint={elsewhere ? e.watch.limitsHint : e.limitsHint}
      said={said({
        ...Object.fromEntries(limits.map(([field]) => [field, doc[field]])),
        retry: doc.retry?.limit,
        max_deliveries: doc.max_deliveries,
        pause_after_failures: doc.pause_after_failures,
        delivery: doc.delivery === "at_most_once" ? e.deliveryWords.at_most_once : undefined,
      })}
    >
      <div className="rule">
        <div className="three">
          {shown.map(([field, example]) => (
            <DurationField
              key={field}
              label={elsewhere && field === "timeout" ? e.watch.timeout : e.limit[field]}
              placeholder={elsewhere && field === "timeout" ? "24h" : example}
              value={doc[field]}
              hint={elsewhere && field === "timeout" ? e.watch.timeoutHint : e.limitHints[field]}
              error={errors.get(field)}
              onChange={(value) => set({ [field]: value })}
            />
          ))}
        </div>
      </div>
      {(!elsewhere || isWrong(errors, "retry")) && <RetryRule {...props} />}
      <div className="rule">
        <div className={doc.delivery === "at_most_once" ? "two" : "three"}>
          {(!elsewhere || errors.has("delivery")) && (
            <Choice
              label={e.delivery}
              value={doc.delivery ?? "at_least_once"}
              options={deliveries.map((d) => ({ value: d, label: e.deliveryWords[d] ?? d }))}
              error={errors.get("delivery")}
              onChange={(delivery) =>
                onChange(
                  without(
                    delivery === "at_least_once"
                      ? { ...doc, delivery: undefined }
                      : { ...doc, delivery, max_deliveries: undefined },
                  ),
                )
              }
            />
          )}
          {((doc.delivery !== "at_most_once" && !elsewhere) || errors.has("max_deliveries")) && (
            <CountField
              label={e.maxDeliveries}
              min={1}
              max={10}
              placeholder="3"
              value={doc.max_deliveries}
              hint={e.maxDeliveriesHint}
              error={errors.get("max_deliveries")}
              onChange={(n) => onChange(without({ ...doc, max_deliveries: n }))}
            />
          )}
          <CountField
            label={e.pauseAfter}
            min={0}
            max={1000}
            placeholder={e.never}
            value={doc.pause_after_failures}
            hint={e.pauseAfterHint}
            error={errors.get("pause_after_failures")}
            onChange={(n) => onChange(without({ ...doc, pause_after_failures: n }))}
          />
        </div>
      </div>
    </Fold>
  );
}
