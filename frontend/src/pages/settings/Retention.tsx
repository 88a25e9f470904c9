import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { jobSearch } from "@/api/jobs";
import { historyQuery, putRetention, retentionEffect, retentionQuery } from "@/api/retention";
import type { RetentionAmount, RetentionEffect, RetentionItem, Retention as Rules } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { Card, Skeleton } from "@/components/Panel";
import { Refusal } from "@/components/Refusal";
import { Sideways } from "@/components/Sideways";
import { Ago, Clock } from "@/components/Time";
import { toast } from "@/components/Toasts";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { formatBytes } from "@/lib/bytes";
import { useFormat } from "@/lib/format";
import { isLength, type Rule, retentionOf, rulesOf } from "@/lib/retention";
import { useWarn } from "@/shell/actions";
import { useMay } from "@/shell/may";

/** How long history is kept, by rules, with what each change does to the disk before it is made. */
export default function Retention() {
  const item = useQuery(retentionQuery);
  if (!item.data) return <Waiting on={item} rows={4} />;
  return <Editor key={item.data.revision} item={item.data} />;
}

function Editor({ item }: { item: RetentionItem }) {
  const t = usePageT();
  const r = t.retention;
  const admin = useMay()("admin", "*");
  const [rules, setRules] = useState(() => rulesOf(item.retention));
  const [saving, setSaving] = useState(false);
  const chosen = retentionOf(rules, item.retention);
  const changed = JSON.stringify(rules) !== JSON.stringify(rulesOf(item.retention));
  const asked = useLater(chosen ?? item.retention);
  const effect = useQuery(retentionEffect(asked));
  const edit = (id: number, change: Partial<Rule>) =>
    setRules(rules.map((x) => (x.id === id ? { ...x, ...change } : x)));
  const add = (scope: "group" | "job") =>
    setRules([
      ...rules,
      { id: Math.max(...rules.map((x) => x.id)) + 1, scope, name: "", runs: "", logs: "" },
    ]);
  return (
    <div className="grid retention">
      <Card
        title={r.title}
        note={changed ? <span className="c-warn">{r.unsaved}</span> : <Changed item={item} />}
      >
        <div className="b fields">
          <p className="sec">{r.hint}</p>
          <Sideways>
            <table className="keeps">
              <thead>
                <tr>
                  <th>{r.scope}</th>
                  <th>{r.runs}</th>
                  <th>{r.logs}</th>
                  <th>
                    <span className="sr">{t.joblist.columns.actions}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rules.map((rule) => (
                  <RuleRow
                    key={rule.id}
                    rule={rule}
                    disabled={!admin}
                    onChange={(change) => edit(rule.id, change)}
                    onRemove={() => setRules(rules.filter((x) => x.id !== rule.id))}
                  />
                ))}
              </tbody>
            </table>
          </Sideways>
          {admin && (
            <div className="row g2 wrap">
              <Button small icon={Plus} onClick={() => add("group")}>
                {r.addGroup}
              </Button>
              <Button small icon={Plus} onClick={() => add("job")}>
                {r.addJob}
              </Button>
              <span className="right row g2">
                {changed && (
                  <Button look="ghost" onClick={() => setRules(rulesOf(item.retention))}>
                    {r.discard}
                  </Button>
                )}
                <Button look="primary" disabled={!changed || !chosen} onClick={() => setSaving(true)}>
                  {r.save}
                </Button>
              </span>
            </div>
          )}
          <p className="hint">{r.classes(item.log_classes.join(", "))}</p>
        </div>
      </Card>
      <Card title={r.effect}>
        <div className="b" aria-busy={effect.isFetching} aria-live="polite">
          {effect.isError ? (
            <Refusal error={effect.error} />
          ) : effect.data ? (
            <Effect effect={effect.data} />
          ) : (
            <Skeleton rows={3} />
          )}
        </div>
      </Card>
      {saving && chosen && (
        <SaveDialog
          retention={chosen}
          revision={item.revision}
          effect={effect.data}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  );
}

function Changed({ item }: { item: RetentionItem }) {
  const t = usePageT();
  if (!item.changed_at) return null;
  return (
    <span title={item.note}>
      {t.retention.changed} <Ago at={item.changed_at} /> · {item.author}
    </span>
  );
}

interface RuleRowProps {
  rule: Rule;
  disabled: boolean;
  onChange(change: Partial<Rule>): void;
  onRemove(): void;
}

function RuleRow({ rule, disabled, onChange, onRemove }: RuleRowProps) {
  const t = usePageT();
  const r = t.retention;
  const listId = useId();
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const jobs = useQuery({ ...jobSearch(rule.name, 20), enabled: rule.scope === "job" }).data?.items ?? [];
  const names =
    rule.scope === "group" ? groups.map((g) => g.executor_group) : jobs.map((j) => j.definition.job);
  const length = (field: "runs" | "logs", label: string) => (
    <td>
      <span className={isLength(rule[field], rule.scope === "default") ? "inp" : "inp bad"}>
        <input
          className="mono"
          aria-label={`${label}: ${rule.name || r.all}`}
          value={rule[field]}
          disabled={disabled}
          placeholder={rule.scope === "default" ? "30d" : r.asWider}
          autoComplete="off"
          spellCheck={false}
          onChange={(e) => onChange({ [field]: e.target.value.trim() })}
        />
      </span>
    </td>
  );
  return (
    <tr>
      <td>
        {rule.scope === "default" ? (
          <b>{r.all}</b>
        ) : (
          <span className="row g2">
            <span className="mut nowrap">{rule.scope === "group" ? r.group : r.job}</span>
            <span className="inp grow">
              <input
                className="mono"
                aria-label={rule.scope === "group" ? r.group : r.job}
                list={listId}
                value={rule.name}
                disabled={disabled}
                placeholder={rule.scope === "group" ? "billing" : "billing/report"}
                autoComplete="off"
                spellCheck={false}
                onChange={(e) => onChange({ name: e.target.value.trim() })}
              />
            </span>
            <datalist id={listId}>
              {names.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </span>
        )}
      </td>
      {length("runs", r.runs)}
      {length("logs", r.logs)}
      <td>
        {rule.scope !== "default" && !disabled && (
          <IconButton icon={X} size={14} label={r.remove(rule.name)} onClick={onRemove} />
        )}
      </td>
    </tr>
  );
}

function Effect({ effect }: { effect: RetentionEffect }) {
  const t = usePageT();
  const r = t.retention;
  const f = useFormat();
  const history = useQuery(historyQuery).data;
  const most = Math.max(1, effect.now.bytes, effect.expected.bytes);
  const row = (label: string, a: RetentionAmount, tone: string) => (
    <li>
      <span className="row g2">
        <span className="sec grow">{label}</span>
        <b className={a.bytes > 0 || a.runs > 0 ? tone : "mut"}>{formatBytes(a.bytes)}</b>
      </span>
      <span className="bar" aria-hidden>
        <i
          className={tone === "c-bad" ? "b-bad" : "b-accent"}
          style={{ width: `${(a.bytes / most) * 100}%` }}
        />
      </span>
      <span className="mut">
        {r.runsN(f.number(a.runs))} · {r.linesN(f.number(a.lines))}
      </span>
    </li>
  );
  return (
    <>
      <ul className="amounts">
        {row(r.now, effect.now, "")}
        {row(r.frees, effect.frees, "c-bad")}
        {row(r.expected, effect.expected, "")}
      </ul>
      <p className="hint">
        {r.estimate}{" "}
        {history?.oldest_run && (
          <>
            {r.oldest} <Clock at={history.oldest_run} />
          </>
        )}
      </p>
    </>
  );
}

interface SaveDialogProps {
  retention: Rules;
  revision: number;
  effect: RetentionEffect | undefined;
  onClose(): void;
}

/** Says what goes for ever, before it does. */
function SaveDialog({ retention, revision, effect, onClose }: SaveDialogProps) {
  const t = usePageT();
  const r = t.retention;
  const f = useFormat();
  const client = useQueryClient();
  const warn = useWarn();
  const [note, setNote] = useState("");
  const frees = effect?.frees;
  const deletes = frees !== undefined && (frees.runs > 0 || frees.lines > 0);
  const save = useMutation({
    mutationFn: () => putRetention(retention, note, revision),
    onSuccess: (item) => {
      client.setQueryData(retentionQuery.queryKey, item);
      toast({ text: r.saved });
      warn(item);
      onClose();
    },
  });
  return (
    <FormDialog
      title={r.ask}
      hint={
        deletes
          ? r.askFrees(
              r.runsN(f.number(frees.runs)),
              r.linesN(f.number(frees.lines)),
              formatBytes(frees.bytes),
            )
          : r.askNone
      }
      verb={r.save}
      danger={deletes}
      busy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label={r.note} optional value={note} maxLength={1000} onChange={setNote} />
    </FormDialog>
  );
}

/** A value a moment after it has come to rest: not every letter is a question to the server. */
function useLater<T>(value: T): T {
  const [later, setLater] = useState(value);
  const text = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the same as long as its text is
  useEffect(() => {
    const timer = setTimeout(() => setLater(value), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
