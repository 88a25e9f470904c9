import {
  Boxes,
  Ear,
  FileCode2,
  Globe,
  type LucideIcon,
  SquareCode,
  SquareTerminal,
  Webhook,
  Workflow,
} from "lucide-react";
import type { Task } from "@/api/schema.gen";

export type TaskKind = "handler" | "shell" | "command" | "http" | "script" | "watch" | "workflow" | "other";

/** What kind of task it is. A job without one is a workflow; a kind that this console does not know yet is "other". */
export function taskKind(task: Task | undefined): TaskKind {
  if (!task) return "workflow";
  if (task.handler) return "handler";
  if (task.shell) return "shell";
  if (task.http) return "http";
  if (task.script) return "script";
  if (task.watch) return "watch";
  return task.command?.length ? "command" : "other";
}

const icons: Record<TaskKind, LucideIcon> = {
  handler: Boxes,
  shell: SquareTerminal,
  command: SquareCode,
  http: Globe,
  script: FileCode2,
  watch: Ear,
  workflow: Workflow,
  other: Webhook,
};

export function TaskIcon({ task, big }: { task: Task | undefined; big?: boolean }) {
  const Icon = icons[taskKind(task)];
  return (
    <span className={`ico task${big ? " big" : ""}`}>
      <Icon size={big ? 18 : 14} aria-hidden />
    </span>
  );
}

const colours = [
  "#7a5af0",
  "#0d8f8a",
  "#2f6fde",
  "#c23a87",
  "#7d8f1f",
  "#c98a12",
  "#667080",
  "#a8552f",
  "#3d8b4f",
  "#8a4fb5",
  "#1f7fa8",
  "#b0506a",
];

/** A name's own colour: it tells names apart and means nothing else. */
export function colourOf(name: string): string | undefined {
  let hash = 0;
  for (const c of name) hash = (hash * 31 + (c.codePointAt(0) ?? 0)) >>> 0;
  return colours[hash % colours.length];
}

/** A group's own colour, beside its name. */
export function GroupDot({ group }: { group: string }) {
  return <i className="dot" style={{ background: colourOf(group) }} aria-hidden />;
}
