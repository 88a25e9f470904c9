import type { Retry } from "@/api/schema.gen";
import { Check, Choice, CountField, DurationField, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { defaultOn, retryInWords } from "@/lib/policies";
import { type SectionProps, without } from "./Section";

const backoffs = ["constant", "linear", "exponential"] as const;

/** Whether a run that failed is tried again, how often, and after how long. */
export function RetryRule({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
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
