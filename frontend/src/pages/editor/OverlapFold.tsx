import type { Misfire, Overlap } from "@/api/schema.gen";
import { Choice, CountField, DurationField, NumberField, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { overlapInWords } from "@/lib/policies";
import { Fold, useSaid } from "./Fold";
import { type SectionProps, without } from "./Section";

const misfires = ["skip", "fire_once", "fire_all"] as const;
const overlaps = ["allow", "queue", "skip", "replace"] as const;

/** What becomes of runs that meet, and of late fires. */
export function OverlapFold(props: SectionProps) {
  const t = useEditorT();
  const e = t.editor;
  const said = useSaid();
  const { overlap: o = {}, misfire: m = {} } = props.doc;
  const meet = o.policy && o.policy !== "allow" ? e.overlapWords[o.policy] : undefined;
  const late = m.policy && m.policy !== "fire_once" ? t.job.misfire[m.policy] : undefined;
  return (
    <Fold
      title={e.overlaps}
      hint={e.overlapsHint}
      said={said({
        overlap: meet,
        "overlap.limit": o.limit,
        "overlap.key": o.key,
        misfire: late,
        "misfire.grace": m.grace,
      })}
    >
      <OverlapRule {...props} />
      <MissedRule {...props} />
    </Fold>
  );
}

function OverlapRule({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
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
                : next === "allow"
                  ? { policy: next }
                  : {
                      policy: next,
                      limit: o.limit,
                      key: o.key,
                      total: next === "skip" ? o.total : undefined,
                    },
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
              max={100_000}
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
      {policy !== "allow" && (
        <div className={policy === "replace" || !o.key ? undefined : "two"}>
          <TextField
            label={e.overlapKey}
            mono
            placeholder="${params.customer}"
            hint={e.overlapKeyHint}
            value={o.key ?? ""}
            error={errors.get("overlap.key")}
            onChange={(key) => set({ ...o, policy, key: key || undefined, total: key ? o.total : undefined })}
          />
          {policy !== "replace" && o.key && (
            <CountField
              label={e.overlapTotal}
              min={1}
              max={10_000}
              placeholder={e.where.anyNumber}
              value={o.total}
              error={errors.get("overlap.total")}
              onChange={(total) => set({ ...o, policy, total })}
            />
          )}
        </div>
      )}
      <p className="hint">{overlapInWords(doc, t)}</p>
    </div>
  );
}

function MissedRule({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
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
          error={errors.get("misfire") ?? errors.get("misfire.policy")}
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
