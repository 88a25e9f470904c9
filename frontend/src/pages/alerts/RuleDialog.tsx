import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { alertsKey, channelsQuery, putRule } from "@/api/alerts";
import { problemOf } from "@/api/problem";
import type { Alert, AlertItem, Severity } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Segments } from "@/components/Segments";
import { useMay } from "@/shell/may";
import { fresh, kindOf, kinds, usualEnds, type When } from "./conditions";
import { useAlertT } from "./texts";

const ends = ["failed", "timed_out", "lost", "missed", "cancelled"] as const;
const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** Edits a rule: when there is to be a message, about which jobs, how grave it is, and to whom. */
export function RuleDialog({ item, onClose }: { item: AlertItem | undefined; onClose(): void }) {
  const t = useAlertT();
  const a = t.alerts;
  const client = useQueryClient();
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
  const save = useMutation({
    mutationFn: () => putRule(tidy(rule), item?.revision),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: alertsKey });
      onClose();
    },
  });
  const problem = save.error ? problemOf(save.error) : undefined;
  const chosen = rule.channels ?? [];
  return (
    <Dialog
      title={item ? a.editRule(item.definition.alert) : a.newRule}
      open
      drawer
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button
            look="primary"
            busy={save.isPending}
            disabled={rule.alert === ""}
            onClick={() => save.mutate()}
          >
            {a.save}
          </Button>
        </>
      }
    >
      <div className="two">
        <Text
          label={a.name}
          mono
          value={rule.alert}
          disabled={item !== undefined}
          placeholder="nightly-jobs"
          onChange={(v) => set({ alert: v.trim() })}
        />
        <Text
          label={a.description}
          value={rule.description ?? ""}
          onChange={(v) => set({ description: v })}
        />
      </div>
      <Field label={a.condition}>
        {(id) => (
          <select
            id={id}
            className="select"
            value={kind}
            onChange={(e) => {
              const next = kinds.find((k) => k === e.target.value);
              if (next) set({ when: fresh(next) });
            }}
          >
            {kinds.map((k) => (
              <option key={k} value={k}>
                {a.conditions[k]}
              </option>
            ))}
          </select>
        )}
      </Field>
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
          <Text
            label={a.inARow}
            type="number"
            value={when.in_a_row ? String(when.in_a_row) : ""}
            placeholder="1"
            onChange={(v) => setWhen({ in_a_row: v === "" ? undefined : Number(v) })}
          />
        </>
      )}
      {(kind === "starts_within" || kind === "ends_within" || kind === "no_executor_for") && (
        <Text
          label={a.duration}
          mono
          value={String(when[kind] ?? "")}
          onChange={(v) => setWhen({ [kind]: v.trim() })}
        />
      )}
      {(kind === "slower_than_p95" || kind === "stream_full") && (
        <Text
          label={kind === "stream_full" ? a.percent : a.times}
          type="number"
          value={String(when[kind] ?? "")}
          onChange={(v) => setWhen({ [kind]: Number(v) })}
        />
      )}
      <div className="two">
        <Text
          label={a.groups}
          mono
          value={(rule.match?.groups ?? []).join(" ")}
          placeholder={a.all}
          onChange={(v) => set({ match: { ...rule.match, groups: words(v) } })}
        />
        <Text
          label={a.onlyJobs}
          mono
          value={(rule.match?.jobs ?? []).join(" ")}
          placeholder={a.all}
          onChange={(v) => set({ match: { ...rule.match, jobs: words(v) } })}
        />
      </div>
      <div className="row g4 wrap">
        <div className="f">
          <span className="lab">{a.columns.severity}</span>
          <Segments<Severity>
            label={a.columns.severity}
            value={rule.severity ?? "warning"}
            options={(["info", "warning", "critical"] as const).map((s) => ({
              value: s,
              label: a.severity[s],
            }))}
            onChange={(severity) => set({ severity })}
          />
        </div>
        <div className="f">
          <span className="lab">{a.groupBy}</span>
          <Segments
            label={a.groupBy}
            value={rule.group_by ?? "job"}
            options={(["job", "group", "rule"] as const).map((g) => ({ value: g, label: a.groupings[g] }))}
            onChange={(group_by) => set({ group_by })}
          />
        </div>
      </div>
      <div className="two">
        <Text
          label={a.wait}
          mono
          value={rule.wait ?? ""}
          placeholder="0s"
          onChange={(v) => set({ wait: v.trim() })}
        />
        <Text
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
        <Text
          label={a.columns.channels}
          mono
          value={chosen.join(" ")}
          onChange={(v) => set({ channels: words(v) })}
        />
      )}
      <div className="row g4 wrap">
        <label className="check">
          <input
            type="checkbox"
            className="ck"
            checked={!rule.no_recovery}
            onChange={(e) => set({ no_recovery: !e.target.checked || undefined })}
          />
          <span>{a.recovery}</span>
        </label>
        <label className="check">
          <input
            type="checkbox"
            className="ck"
            checked={!rule.disabled}
            onChange={(e) => set({ disabled: !e.target.checked || undefined })}
          />
          <span>{a.enabled}</span>
        </label>
      </div>
      {problem && (
        <p className="ferr" role="alert">
          {problem.errors?.map((x) => `${x.field} ${x.reason}`).join("; ") ??
            problem.detail ??
            t.error.codes[problem.code]}
        </p>
      )}
    </Dialog>
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

export function Field({ label, children }: { label: ReactNode; children(id: string): ReactNode }) {
  const id = useId();
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

interface TextProps {
  label: ReactNode;
  value: string;
  onChange(value: string): void;
  placeholder?: string;
  disabled?: boolean;
  mono?: boolean;
  type?: string;
}

export function Text({ label, mono, onChange, ...rest }: TextProps) {
  return (
    <Field label={label}>
      {(id) => (
        <span className="inp">
          <input
            id={id}
            className={mono ? "mono" : undefined}
            autoComplete="off"
            spellCheck={false}
            {...rest}
            onChange={(e) => onChange(e.target.value)}
          />
        </span>
      )}
    </Field>
  );
}
