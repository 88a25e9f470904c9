import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { alertsKey, channelsQuery, putRule } from "@/api/alerts";
import type { Alert, AlertItem, Severity } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { Check, Choice, TextField } from "@/components/fields";
import { SegmentsField } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { useMay } from "@/shell/may";
import { useSave } from "@/shell/useSave";
import { fresh, kindOf, kinds, usualEnds, type When } from "./conditions";
import { RuleTrial } from "./RuleTrial";

const ends = ["failed", "timed_out", "lost", "missed", "cancelled"] as const;
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** Edits a rule: when there is to be a message, about which jobs, how grave it is, and to whom. */
export function RuleDialog({ item, onClose }: { item: AlertItem | undefined; onClose(): void }) {
  const t = usePageT();
  const a = t.alerts;
  const isAdmin = useMay()("admin", "*");
  const channels = useQuery({ ...channelsQuery, enabled: isAdmin }).data?.items.map(
    (c) => c.definition.channel,
  );
  const [rule, setRule] = useState<Alert>(
    item?.definition ?? { alert: "", severity: "warning", when: fresh("ends"), channels: [] },
  );
  const set = (change: Partial<Alert>) => setRule({ ...rule, ...change });
  const when = rule.when ?? fresh("ends");
  const kind = kindOf(when);
  const setWhen = (change: When) => set({ when: { ...when, ...change } });
  const save = useSave({
    act: () => putRule(tidy(rule), item?.revision),
    stale: alertsKey,
    onSaved: onClose,
  });
  const chosen = rule.channels ?? [];
  return (
    <FormDialog
      title={item ? a.editRule(item.definition.alert) : a.newRule}
      drawer
      verb={a.save}
      {...save}
      disabled={rule.alert === ""}
      onClose={onClose}
    >
      <div className="two">
        <TextField
          label={a.name}
          mono
          value={rule.alert}
          disabled={item !== undefined}
          placeholder="nightly-jobs"
          onChange={(v) => set({ alert: v.trim() })}
        />
        <TextField
          label={a.description}
          value={rule.description ?? ""}
          onChange={(v) => set({ description: v })}
        />
      </div>
      <Choice
        label={a.condition}
        value={kind}
        options={kinds.map((k) => ({ value: k, label: a.conditions[k] }))}
        onChange={(next) => set({ when: fresh(next) })}
      />
      {kind === "ends" && (
        <>
          <div className="row g3 wrap">
            {ends.map((s) => (
              <label className="check small" key={s}>
                <input
                  type="checkbox"
                  className="ck"
                  checked={(when.ends ?? usualEnds).includes(s)}
                  onChange={(e) =>
                    setWhen({
                      ends: ends.filter((x) =>
                        x === s ? e.target.checked : (when.ends ?? usualEnds).includes(x),
                      ),
                    })
                  }
                />
                <span>{t.status[s]}</span>
              </label>
            ))}
          </div>
          <TextField
            label={a.inARow}
            type="number"
            value={when.in_a_row ? String(when.in_a_row) : ""}
            placeholder="1"
            onChange={(v) => setWhen({ in_a_row: v === "" ? undefined : Number(v) })}
          />
        </>
      )}
      {(kind === "starts_within" ||
        kind === "ends_within" ||
        kind === "no_executor_for" ||
        kind === "never_heard") && (
        <TextField
          label={a.duration}
          mono
          value={String(when[kind] ?? "")}
          onChange={(v) => setWhen({ [kind]: v.trim() })}
        />
      )}
      {kind === "ends_within" && (
        <Check
          label={a.predict}
          checked={when.predict === true}
          onChange={(on) => setWhen({ predict: on || undefined })}
        />
      )}
      {(kind === "slower_than_p95" ||
        kind === "stream_full" ||
        kind === "store_full" ||
        kind === "unasked") && (
        <TextField
          label={kind === "slower_than_p95" ? a.times : kind === "unasked" ? a.runsInAnHour : a.percent}
          type="number"
          value={String(when[kind] ?? "")}
          onChange={(v) => setWhen({ [kind]: Number(v) })}
        />
      )}
      <div className="two">
        <TextField
          label={a.groups}
          mono
          value={(rule.match?.groups ?? []).join(" ")}
          placeholder={a.all}
          onChange={(v) => set({ match: { ...rule.match, groups: words(v) } })}
        />
        <TextField
          label={a.onlyJobs}
          mono
          value={(rule.match?.jobs ?? []).join(" ")}
          placeholder={a.all}
          onChange={(v) => set({ match: { ...rule.match, jobs: words(v) } })}
        />
      </div>
      <div className="row g4 wrap">
        <SegmentsField<Severity>
          label={a.columns.severity}
          value={rule.severity ?? "warning"}
          options={(["info", "warning", "critical"] as const).map((s) => ({
            value: s,
            label: a.severity[s],
          }))}
          onChange={(severity) => set({ severity })}
        />
        <SegmentsField
          label={a.groupBy}
          value={rule.group_by ?? "job"}
          options={(["job", "group", "rule"] as const).map((g) => ({ value: g, label: a.groupings[g] }))}
          onChange={(group_by) => set({ group_by })}
        />
      </div>
      <div className="two">
        <TextField
          label={a.wait}
          mono
          value={rule.wait ?? ""}
          placeholder="0s"
          onChange={(v) => set({ wait: v.trim() })}
        />
        <TextField
          label={a.repeat}
          mono
          value={rule.repeat ?? ""}
          placeholder="4h"
          onChange={(v) => set({ repeat: v.trim() })}
        />
      </div>
      {channels ? (
        <div className="f">
          <span className="lab">{a.columns.channels}</span>
          <div className="row g3 wrap">
            {channels.length === 0 && <span className="mut">{a.noChannels}</span>}
            {channels.map((c) => (
              <label className="check small" key={c}>
                <input
                  type="checkbox"
                  className="ck"
                  checked={chosen.includes(c)}
                  onChange={(e) =>
                    set({ channels: e.target.checked ? [...chosen, c] : chosen.filter((x) => x !== c) })
                  }
                />
                <span>{c}</span>
              </label>
            ))}
          </div>
        </div>
      ) : (
        <TextField
          label={a.columns.channels}
          mono
          value={chosen.join(" ")}
          onChange={(v) => set({ channels: words(v) })}
        />
      )}
      <RuleTrial key={JSON.stringify([rule.when, rule.match, rule.group_by])} rule={tidy(rule)} />
      <div className="row g4 wrap">
        <Check
          label={a.recovery}
          checked={!rule.no_recovery}
          onChange={(on) => set({ no_recovery: !on || undefined })}
        />
        <Check label={a.enabled} checked={!rule.disabled} onChange={(on) => set({ disabled: !on })} />
      </div>
    </FormDialog>
  );
}

/** A rule without what is empty in it. */
function tidy(rule: Alert): Alert {
  const { description, wait, repeat, match, ...rest } = rule;
  const groups = match?.groups?.length ? { groups: match.groups } : {};
  const jobs = match?.jobs?.length ? { jobs: match.jobs } : {};
  const narrowed = { ...groups, ...jobs, ...(match?.labels ? { labels: match.labels } : {}) };
  return {
    ...rest,
    ...(description ? { description } : {}),
    ...(wait ? { wait } : {}),
    ...(repeat ? { repeat } : {}),
    ...(Object.keys(narrowed).length > 0 ? { match: narrowed } : {}),
  };
}
