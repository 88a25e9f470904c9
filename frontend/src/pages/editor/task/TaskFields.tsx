import { useQuery } from "@tanstack/react-query";
import { Boxes, FileCode2, Globe, type LucideIcon, SquareCode, SquareTerminal } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import type { Task } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { Lines } from "@/components/fields";
import { usePageT } from "@/i18n";
import { HandlerFields } from "./HandlerFields";
import { HttpFields } from "./HttpFields";
import { changed, type Kind, kindOfTask, taskKinds, toKind } from "./kinds";
import { ProcessFields } from "./ProcessFields";
import { ScriptFields } from "./ScriptFields";
import { SecretsField } from "./SecretsField";

const icons: Record<Kind, LucideIcon> = {
  handler: Boxes,
  script: FileCode2,
  shell: SquareTerminal,
  command: SquareCode,
  http: Globe,
};

/** What a task's fields work on. */
export interface TaskProps {
  group: string;
  task: Task;
  errors: ReadonlyMap<string, string>;
  set(change: Partial<Task>): void;
}

interface TaskFieldsProps {
  group: string;
  task: Task;
  /** What is wrong, by the path of the field from task on. */
  errors: ReadonlyMap<string, string>;
  onChange(task: Task): void;
}

/** The kind of a task, and what it needs: of a job, or of a step. */
export function TaskFields({ group, task, errors, onChange }: TaskFieldsProps) {
  const e = usePageT().editor;
  const kind = kindOfTask(task);
  const offered = new Set(
    (useQuery(groupsQuery).data?.items ?? [])
      .filter((g) => g.executor_group === group)
      .flatMap((g) => g.instances)
      .flatMap((i) => i.kinds ?? []),
  );
  const set = (change: Partial<Task>) => onChange(changed(task, change));
  const part: TaskProps = { group, task, errors, set };
  return (
    <>
      <div className="cards5">
        {taskKinds.map((k) => {
          const Icon = icons[k];
          return (
            <button
              type="button"
              key={k}
              className={k === kind ? "tcard on" : "tcard"}
              aria-pressed={k === kind}
              onClick={() => k !== kind && onChange(toKind(task, k))}
            >
              <Icon size={16} aria-hidden />
              <b>{e.taskKinds[k]}</b>
              <span>{e.taskWords[k]}</span>
            </button>
          );
        })}
      </div>
      {kind && offered.size > 0 && !offered.has(kind) && <p className="hint c-warn">{e.notOffered}</p>}
      {kind === "handler" && <HandlerFields {...part} />}
      {kind === "script" && <ScriptFields {...part} />}
      {kind === "http" && <HttpFields {...part} />}
      {kind === "shell" && (
        <div className="f">
          <span className="lab">{e.script}</span>
          <CodeEditor
            label={e.script}
            language="shell"
            rows={9}
            value={task.shell ?? ""}
            onChange={(shell) => set({ shell })}
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
          onChange={(command) => set({ command })}
        />
      )}
      {(kind === "shell" || kind === "command" || kind === "script") && <ProcessFields {...part} />}
      {kind !== "handler" && kind !== undefined && <SecretsField {...part} />}
    </>
  );
}
