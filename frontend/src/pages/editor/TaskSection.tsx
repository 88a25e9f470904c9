import { useQuery } from "@tanstack/react-query";
import { Boxes, type LucideIcon, SquareCode, SquareTerminal } from "lucide-react";
import { useId, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { refOf } from "@/api/jobs";
import type { Task } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { taskKind } from "@/components/TaskIcon";
import { useT } from "@/i18n";
import { Section, type SectionProps, TextField, without } from "./fields";

type Kind = "handler" | "shell" | "command";
const kinds: [Kind, LucideIcon][] = [
  ["shell", SquareTerminal],
  ["command", SquareCode],
  ["handler", Boxes],
];

export function TaskSection({ doc, onChange, errors }: SectionProps) {
  const t = useT();
  const e = t.editor;
  const listId = useId();
  const task = doc.task;
  const kind: Kind | undefined =
    "handler" in task ? "handler" : "shell" in task ? "shell" : "command" in task ? "command" : undefined;
  const instances = (useQuery(groupsQuery).data?.items ?? [])
    .filter((g) => g.executor_group === refOf(doc.job).group)
    .flatMap((g) => g.instances);
  const offered = new Set(instances.flatMap((i) => i.kinds ?? []));
  const handlers = [...new Set(instances.flatMap((i) => i.handlers ?? []))].sort();
  const set = (next: Task) => onChange({ ...doc, task: next });
  const toKind = (next: Kind) => {
    const { handler: _h, shell: _s, command: _c, ...rest } = task;
    const fresh: Record<Kind, Task> = {
      handler: { handler: "" },
      shell: { shell: "" },
      command: { command: [] },
    };
    set({ ...rest, ...fresh[next] });
  };
  const isProcess = kind === "shell" || kind === "command";
  return (
    <Section title={e.task} hint={e.taskHint}>
      <div className="cards3">
        {kinds.map(([k, Icon]) => (
          <button
            type="button"
            key={k}
            className={k === kind ? "tcard on" : "tcard"}
            aria-pressed={k === kind}
            onClick={() => toKind(k)}
          >
            <Icon size={16} aria-hidden />
            <b>{e.taskKinds[k]}</b>
            <span>{e.taskWords[k]}</span>
          </button>
        ))}
      </div>
      {kind && offered.size > 0 && !offered.has(kind) && <p className="hint c-warn">{e.notOffered}</p>}
      {kind === undefined && <p className="hint">{taskKind(task) === "other" && e.more}</p>}
      {kind === "handler" && (
        <>
          <TextField
            label={e.handler}
            mono
            value={task.handler ?? ""}
            list={listId}
            hint={
              task.handler && handlers.length > 0 && !handlers.includes(task.handler)
                ? e.unknownHandler
                : undefined
            }
            error={errors.get("task.handler")}
            onChange={(handler) => set({ ...task, handler })}
          />
          <datalist id={listId}>
            {handlers.map((h) => (
              <option key={h} value={h} />
            ))}
          </datalist>
        </>
      )}
      {kind === "shell" && (
        <div className="f">
          <span className="lab">{e.script}</span>
          <CodeEditor
            label={e.script}
            language="shell"
            rows={9}
            value={task.shell ?? ""}
            onChange={(shell) => set({ ...task, shell })}
          />
          {errors.has("task.shell") && <p className="ferr">{errors.get("task.shell")}</p>}
        </div>
      )}
      {kind === "command" && (
        <Lines
          label={e.argv}
          hint={e.argvHint}
          error={errors.get("task.command")}
          value={task.command ?? []}
          onChange={(command) => set({ ...task, command })}
        />
      )}
      {isProcess && (
        <div className="two">
          <TextField
            label={e.dir}
            mono
            value={task.dir ?? ""}
            error={errors.get("task.dir")}
            onChange={(dir) => {
              const { dir: _d, ...rest } = task;
              set(dir === "" ? rest : { ...task, dir });
            }}
          />
          <Lines
            label={e.env}
            hint={e.envHint}
            error={errors.get("task.env")}
            value={Object.entries(task.env ?? {}).map(([k, v]) => `${k}=${v}`)}
            onChange={(lines) => {
              const { env: _e, ...rest } = task;
              const env = Object.fromEntries(
                lines
                  .filter((l) => l.includes("="))
                  .map((l) => [l.slice(0, l.indexOf("=")), l.slice(l.indexOf("=") + 1)]),
              );
              set(Object.keys(env).length === 0 ? rest : { ...task, env });
            }}
          />
        </div>
      )}
      <Params
        value={doc.params}
        onChange={(params) => onChange(without({ ...doc, params }))}
        error={errors.get("params")}
      />
    </Section>
  );
}

interface LinesProps {
  label: string;
  hint: string;
  error: string | undefined;
  value: string[];
  onChange(lines: string[]): void;
}

/** Several texts, one a line. Empty lines are kept while one types, and left out of the value. */
function Lines({ label, hint, error, value, onChange }: LinesProps) {
  const id = useId();
  const [text, setText] = useState(value.join("\n"));
  const shown = text.split("\n").filter(Boolean).join("\n") === value.join("\n") ? text : value.join("\n");
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="area mono"
        rows={Math.max(2, Math.min(8, shown.split("\n").length))}
        spellCheck={false}
        value={shown}
        onChange={(e) => {
          setText(e.target.value);
          onChange(e.target.value.split("\n").filter(Boolean));
        }}
      />
      <p className={error ? "ferr" : "hint"}>{error ?? hint}</p>
    </div>
  );
}

interface ParamsProps {
  value: unknown;
  onChange(value: unknown): void;
  error: string | undefined;
}

/** Parameters as JSON. What is no JSON yet stays in the field, and the document keeps the last that was. */
function Params({ value, onChange, error }: ParamsProps) {
  const t = useT();
  const [text, setText] = useState(() => (value === undefined ? "" : JSON.stringify(value, null, 2)));
  const [bad, setBad] = useState(false);
  const change = (next: string) => {
    setText(next);
    if (next.trim() === "") {
      setBad(false);
      onChange(undefined);
      return;
    }
    try {
      onChange(JSON.parse(next));
      setBad(false);
    } catch {
      setBad(true);
    }
  };
  return (
    <div className="f">
      <span className="lab">
        {t.editor.params} <span className="mut">{t.editor.optional}</span>
      </span>
      <CodeEditor label={t.editor.params} language="json" rows={3} value={text} onChange={change} />
      <p className={bad || error ? "ferr" : "hint"}>{bad ? t.job.badJson : (error ?? t.editor.paramsHint)}</p>
    </div>
  );
}
