import type { ComponentProps } from "react";
import type { Misfire, Overlap, Retry } from "@/api/schema.gen";
import { Check, Choice, DurationField, NumberField, TextField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { defaultOn, overlapInWords, retryInWords } from "@/lib/policies";
import { Section, type SectionProps, without } from "./Section";

const misfires = ["skip", "fire_once", "fire_all"] as const;
const deliveries = ["at_least_once", "at_most_once"] as const;
const overlaps = ["allow", "queue", "skip", "replace"] as const;
const backoffs = ["constant", "linear", "exponential"] as const;

/** A NumberField that is empty for 0. */
function CountField({ value, onChange, ...rest }: ComponentProps<typeof NumberField>) {
  return <NumberField {...rest} value={value || undefined} onChange={(n) => onChange(n || undefined)} />;
}

/** What becomes of late fires, of runs that meet, and of runs that fail. */
export function Trouble(props: SectionProps) {
  const t = usePageT();
  const { doc, onChange, errors } = props;
  const e = t.editor;
  return (
    <Section title={e.trouble} hint={e.troubleHint}>
      <OverlapRule {...props} />
      <MissedRule {...props} />
      <RetryRule {...props} />
      <div className="rule">
        <div className={doc.delivery === "at_most_once" ? "two" : "three"}>
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
          {(doc.delivery !== "at_most_once" || errors.has("max_deliveries")) && (
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
    </Section>
  );
}

function OverlapRule({ doc, onChange, errors }: SectionProps) {
  const t = usePageT();
  const e = t.editor;
  const o: Overlap = doc.overlap ?? {};
  const policy = o.policy ?? "allow";
  const set = (next: Overlap) => {
    const overlap = without(next);
    const isDefault = (overlap.policy ?? "allow") === "allow" && !overlap.limit;
    onChange(without({ ...doc, overlap: isDefault ? undefined : overlap }));
  };
  return (
    <div className="rule">
      <div className={policy === "queue" ? "two" : "three"}>
        <Choice
          label={e.overlap}
          value={policy}
          options={overlaps.map((p) => ({ value: p, label: e.overlapWords[p] }))}
          error={errors.get("overlap") ?? errors.get("overlap.policy")}
          onChange={(next) =>
            set(
              next === "queue"
                ? { ...o, policy: next }
                : { policy: next, limit: next === "allow" ? undefined : o.limit },
            )
          }
        />
        <CountField
          label={e.overlapLimit}
          min={1}
          max={10_000}
          placeholder={policy === "allow" ? e.where.anyNumber : "1"}
          value={o.limit}
          error={errors.get("overlap.limit")}
          onChange={(limit) => set({ ...o, policy, limit })}
        />
        {policy === "queue" && (
          <>
            <CountField
              label={e.overlapQueue}
              min={1}
              max={10_000}
              placeholder="100"
              value={o.queue}
              error={errors.get("overlap.queue")}
              onChange={(queue) => set({ ...o, policy, queue })}
            />
            <Choice
              label={e.whenFull}
              value={o.when_full ?? "skip_newest"}
              options={[
                { value: "skip_newest", label: e.whenFullWords.skip_newest },
                { value: "skip_oldest", label: e.whenFullWords.skip_oldest },
              ]}
              onChange={(when_full) =>
                set({ ...o, policy, when_full: when_full === "skip_newest" ? undefined : when_full })
              }
            />
          </>
        )}
      </div>
      <p className="hint">{overlapInWords(doc, t)}</p>
    </div>
  );
}

function MissedRule({ doc, onChange, errors }: SectionProps) {
  const t = usePageT();
  const e = t.editor;
  const m: Misfire = doc.misfire ?? {};
  const policy = m.policy ?? "fire_once";
  const set = (change: Partial<Misfire>) => onChange({ ...doc, misfire: without({ ...m, ...change }) });
  return (
    <div className="rule">
      <div className={policy === "fire_all" ? "two" : "three"}>
        <Choice
          label={e.missed}
          value={policy}
          options={misfires.map((p) => ({ value: p, label: t.job.misfire[p] ?? p }))}
          error={errors.get("misfire.policy")}
          onChange={(next) =>
            onChange({
              ...doc,
              misfire: without(
                next === "fire_all" ? { ...m, policy: next } : { policy: next, grace: m.grace },
              ),
            })
          }
        />
        <DurationField
          label={e.grace}
          placeholder="15s"
          value={m.grace}
          error={errors.get("misfire.grace")}
          onChange={(grace) => set({ grace })}
        />
        {policy === "fire_all" && (
          <>
            <NumberField
              label={e.maxCount}
              min={0}
              max={500}
              placeholder="500"
              value={m.max_count}
              error={errors.get("misfire.max_count")}
              onChange={(max_count) => set({ max_count })}
            />
            <DurationField
              label={e.maxAge}
              placeholder="24h"
              value={m.max_age}
              error={errors.get("misfire.max_age")}
              onChange={(max_age) => set({ max_age })}
            />
          </>
        )}
      </div>
      <p className="hint">{e.missedHint(m.grace ?? "15s")}</p>
    </div>
  );
}

function RetryRule({ doc, onChange, errors }: SectionProps) {
  const t = usePageT();
  const e = t.editor;
  const r: Retry = doc.retry ?? {};
  const ends: readonly string[] =
    r.on ?? (doc.delivery === "at_most_once" ? defaultOn.slice(0, 2) : defaultOn);
  const set = (change: Partial<Retry>) => {
    const retry = without({ ...r, ...change });
    onChange(without({ ...doc, retry: retry.limit ? retry : undefined }));
  };
  const toggle = (status: (typeof defaultOn)[number], on: boolean) =>
    set({ on: defaultOn.filter((s) => (s === status ? on : ends.includes(s))) });
  return (
    <div className="rule">
      <div className="three">
        <CountField
          label={e.retry}
          min={0}
          max={100}
          placeholder={e.notAgain}
          value={r.limit}
          error={errors.get("retry.limit")}
          onChange={(limit) => set({ limit })}
        />
        {r.limit ? (
          <>
            <DurationField
              label={e.retryDelay}
              placeholder="10s"
              value={r.delay}
              error={errors.get("retry.delay")}
              onChange={(delay) => set({ delay })}
            />
            <Choice
              label={e.backoff}
              value={r.backoff ?? "exponential"}
              options={backoffs.map((b) => ({ value: b, label: e.backoffWords[b] }))}
              error={errors.get("retry.backoff")}
              onChange={(backoff) => set({ backoff })}
            />
          </>
        ) : null}
      </div>
      {r.limit ? (
        <div className="three">
          <DurationField
            label={e.maxDelay}
            placeholder="1h"
            value={r.max_delay}
            error={errors.get("retry.max_delay")}
            onChange={(max_delay) => set({ max_delay })}
          />
          <CountField
            label={e.jitter}
            min={0}
            max={100}
            placeholder="0"
            value={r.jitter_percent}
            error={errors.get("retry.jitter_percent")}
            onChange={(jitter_percent) => set({ jitter_percent })}
          />
          <TextField
            label={e.exitCodes}
            mono
            placeholder={e.anyCode}
            value={(r.exit_codes ?? []).join(" ")}
            error={errors.get("retry.exit_codes")}
            onChange={(text) =>
              set({
                exit_codes: text
                  .split(/[\s,]+/)
                  .filter((c) => /^\d+$/.test(c))
                  .map(Number),
              })
            }
          />
        </div>
      ) : null}
      {r.limit ? (
        <div className="row g3 wrap">
          <span className="lab">{e.retryOn}</span>
          {defaultOn.map((s) => (
            <Check key={s} label={t.status[s]} checked={ends.includes(s)} onChange={(on) => toggle(s, on)} />
          ))}
          {errors.has("retry.on") && <span className="ferr">{errors.get("retry.on")}</span>}
        </div>
      ) : null}
      {r.limit ? (
        <Check
          label={e.dropStale}
          checked={r.drop_stale ?? false}
          onChange={(on) => set({ drop_stale: on || undefined })}
        />
      ) : null}
      <p className="hint">{retryInWords(doc, t)}</p>
    </div>
  );
}
