import { useQuery } from "@tanstack/react-query";
import {
  Boxes,
  Ear,
  FileCode2,
  Globe,
  Hourglass,
  type LucideIcon,
  PhoneOutgoing,
  SquareCode,
  SquareTerminal,
} from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import type { StepWait, Task } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { Lines } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { JobName } from "@/shell/JobNameField";
import { WaitFields } from "../WaitFields";
import { HandlerFields } from "./HandlerFields";
import { HttpFields } from "./HttpFields";
import { changed, jobKinds, type Kind, kindOfTask, taskKinds, toKind } from "./kinds";
import { ProcessFold } from "./ProcessFold";
import { ScriptFields } from "./ScriptFields";
import { WatchFields } from "./WatchFields";
import "./task.css";

const icons: Record<Kind, LucideIcon> = {
  handler: Boxes,
  script: FileCode2,
  shell: SquareTerminal,
  command: SquareCode,
  http: Globe,
  watch: Ear,
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
  /** Of a job, for whose runs executors may not be needed at all. */
  onWatch?(): void;
  /** A step can call a job instead: which one it calls, if it does. */
  call?: { job: string | undefined; onChange(job: string): void };
  /** It can wait for something instead: for what, if it does. */
  wait?: { value: StepWait | undefined; onChange(wait: StepWait): void };
}

/** The kind of a task, and what it needs: of a job, or of a step. */
export function TaskFields({ group, task, errors, onChange, onWatch, call, wait }: TaskFieldsProps) {
  const e = useEditorT().editor;
  const calls = call?.job !== undefined;
  const waits = wait?.value !== undefined;
  const kind = calls || waits ? undefined : kindOfTask(task);
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
        {(onWatch ? jobKinds : taskKinds).map((k) => (
          <Card
            key={k}
            kind={k}
            icon={icons[k]}
            chosen={k === kind}
            onChoose={() => (k === "watch" ? onWatch?.() : onChange(toKind(task, k)))}
          />
        ))}
        {call && <Card kind="call" icon={PhoneOutgoing} chosen={calls} onChoose={() => call.onChange("")} />}
        {wait && (
          <Card kind="wait" icon={Hourglass} chosen={waits} onChoose={() => wait.onChange({ for: "" })} />
        )}
      </div>
      {kind && kind !== "watch" && offered.size > 0 && !offered.has(kind) && (
        <p className="hint c-warn">{e.notOffered}</p>
      )}
      {call?.job !== undefined && (
        <div className="f">
          <span className="lab">{e.called}</span>
          <JobName label={e.called} value={call.job} bad={errors.has("call")} onChange={call.onChange} />
          <p className={errors.has("call") ? "ferr" : "hint"}>{errors.get("call") ?? e.calledHint}</p>
        </div>
      )}
      {wait?.value && <WaitFields wait={wait.value} errors={errors} onChange={wait.onChange} />}
      {kind === "handler" && <HandlerFields {...part} />}
      {kind === "script" && <ScriptFields {...part} />}
      {kind === "watch" && <WatchFields {...part} />}
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
      {(kind === "shell" || kind === "command" || kind === "script") && <ProcessFold {...part} />}
    </>
  );
}

interface CardProps {
  kind: string;
  icon: LucideIcon;
  chosen: boolean;
  onChoose(): void;
}

function Card({ kind, icon: Icon, chosen, onChoose }: CardProps) {
  const e = useEditorT().editor;
  return (
    <button
      type="button"
      className={chosen ? "tcard on" : "tcard"}
      aria-pressed={chosen}
      onClick={() => !chosen && onChoose()}
    >
      <Icon size={16} aria-hidden />
      <b>{e.taskKinds[kind]}</b>
      <span>{e.taskWords[kind]}</span>
    </button>
  );
}
