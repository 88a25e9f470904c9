import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { secretsQuery } from "@/api/groups";
import { Button, IconButton } from "@/components/Button";
import { useEditorT } from "@/i18n";
import { useMay } from "@/shell/may";
import { SecretDialog } from "@/shell/SecretDialog";
import type { TaskProps } from "./TaskFields";

/** Which variables hold which of the group's secrets. Their values are never here: only the executor sees those. */
export function SecretsField({ group, task, errors, set }: TaskProps) {
  const t = useEditorT();
  const e = t.editor;
  const listId = useId();
  const may = useMay();
  const known = useQuery({ ...secretsQuery(group), enabled: group !== "" && may("edit", group) }).data?.items;
  // A row whose name is still empty is no entry of the document yet.
  const [rows, setRows] = useState(() => Object.entries(task.secrets ?? {}));
  const [creating, setCreating] = useState(false);
  const stored = JSON.stringify(task.secrets ?? {});
  const own = JSON.stringify(Object.fromEntries(rows.filter(([k]) => k !== "")));
  const shown = own === stored ? rows : Object.entries(task.secrets ?? {});
  const change = (next: [string, string][]) => {
    setRows(next);
    set({ secrets: Object.fromEntries(next.filter(([k]) => k !== "")) });
  };
  const edit = (i: number, row: [string, string]) => change(shown.map((r, j) => (j === i ? row : r)));
  return (
    <div className="f">
      <span className="lab">{e.secrets}</span>
      {shown.map(([variable, secret], i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while its name is typed
        <div className="secretrow" key={i}>
          <span className="inp">
            <input
              className="mono"
              aria-label={e.variable}
              placeholder="TOKEN"
              autoComplete="off"
              spellCheck={false}
              value={variable}
              onChange={(x) => edit(i, [x.target.value.trim(), secret])}
            />
          </span>
          <span className="inp">
            <KeyRound size={14} aria-hidden />
            <input
              className="mono"
              aria-label={e.secret}
              placeholder="reports-api"
              autoComplete="off"
              spellCheck={false}
              list={listId}
              value={secret}
              onChange={(x) => edit(i, [variable, x.target.value.trim()])}
            />
          </span>
          <IconButton
            icon={X}
            size={14}
            label={e.removeSecret}
            onClick={() => change(shown.filter((_, j) => j !== i))}
          />
        </div>
      ))}
      <datalist id={listId}>
        {known?.map((s) => (
          <option key={s.secret} value={s.secret}>
            {s.description}
          </option>
        ))}
      </datalist>
      <div className="row g2">
        <Button small icon={Plus} onClick={() => change([...shown, ["", known?.[0]?.secret ?? ""]])}>
          {e.addSecret}
        </Button>
        {may("secrets", group) && (
          <Button small look="ghost" icon={KeyRound} onClick={() => setCreating(true)}>
            {t.secrets.create}
          </Button>
        )}
      </div>
      <p className={errors.has("task.secrets") ? "ferr" : "hint"}>
        {errors.get("task.secrets") ?? e.secretsHint}
      </p>
      {creating && <SecretDialog group={group} onClose={() => setCreating(false)} />}
    </div>
  );
}
