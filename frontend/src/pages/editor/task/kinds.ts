import type { Job, Task } from "@/api/schema.gen";
import { without } from "../Section";

/** What executors run. */
export const taskKinds = ["handler", "script", "shell", "command", "http"] as const;
/** What a job can do: also nothing, while its runs are done elsewhere. */
export const jobKinds = [...taskKinds, "watch"] as const;
export type Kind = (typeof jobKinds)[number];

export const languages = ["python", "node", "shell", "php", "powershell", "starlark", "groovy"] as const;
export type ScriptLanguage = (typeof languages)[number];

/** What a new script begins with: how it reads its parameters and says its result. */
export const beginnings: Record<ScriptLanguage, string> = {
  python: `import json, os, sys

params = json.loads(os.environ.get("CARILLON_PARAMS") or "null")
print("parameters:", params)
`,
  node: `const params = JSON.parse(process.env.CARILLON_PARAMS || "null");
console.log("parameters:", params);
`,
  shell: `echo "parameters: $CARILLON_PARAMS"
`,
  php: `<?php
$params = json_decode(getenv("CARILLON_PARAMS") ?: "null", true);
echo "parameters: ", json_encode($params), "\\n";
`,
  powershell: `$params = $env:CARILLON_PARAMS | ConvertFrom-Json
Write-Output "parameters: $env:CARILLON_PARAMS"
`,
  starlark: `print("parameters:", params)
`,
  groovy: `import com.xxl.job.core.context.XxlJobHelper;
import com.xxl.job.core.handler.IJobHandler;

public class Task extends IJobHandler {
    public void execute() {
        XxlJobHelper.log("parameters: {}", XxlJobHelper.getJobParam());
    }
}
`,
};

/** Which of the kinds a task is of, also while the field that makes it so is still empty. */
export function kindOfTask(task: Task | undefined): Kind | undefined {
  return jobKinds.find((k) => task?.[k] !== undefined);
}

/** A task of another kind, with what both kinds have: its environment, and its secrets. */
export function toKind(task: Task, kind: Kind): Task {
  const { env, secrets, dir, stdin } = task;
  const kept: Task = {};
  if (kind !== "handler" && kind !== "watch") Object.assign(kept, env && { env }, secrets && { secrets });
  if (kind === "shell" || kind === "command" || kind === "script")
    Object.assign(kept, dir && { dir }, stdin && { stdin });
  switch (kind) {
    case "handler":
      return { handler: "", ...kept };
    case "shell":
      return { shell: "", ...kept };
    case "command":
      return { command: [], ...kept };
    case "http":
      return { http: { method: "GET", url: "" }, ...kept };
    case "script":
      return { script: { language: "python", source: beginnings.python }, ...kept };
    case "watch":
      return { watch: { grace: "10m" } };
  }
}

/** A job whose runs are done elsewhere: without the fields that only executors use. */
export function asElsewhere(job: Job): Job {
  const {
    misfire: _m,
    overlap: _o,
    retry: _r,
    route: _w,
    at_once: _a,
    succeeds_if: _i,
    labels: _l,
    priority: _p,
    delivery: _d,
    max_deliveries: _n,
    map: _x,
    total_timeout: _t,
    kill_grace: _k,
    start_within: _s,
    params: _v,
    params_schema: _y,
    schedule: { spread: _z, ...schedule } = {},
    task = {},
    ...kept
  } = job;
  return { ...kept, schedule: without(schedule), task: toKind(task, "watch") };
}

/** A task with fields changed; what is empty is left out, but for what makes its kind. */
export function changed(task: Task, change: Partial<Task>): Task {
  const kind = kindOfTask(task);
  return Object.fromEntries(
    Object.entries({ ...task, ...change }).filter(
      ([k, v]) => k === kind || (v !== undefined && v !== "" && JSON.stringify(v) !== "{}"),
    ),
  ) as Task;
}
