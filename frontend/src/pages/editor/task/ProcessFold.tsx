import { Pairs, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { Fold, useSaid } from "../Fold";
import { SecretsField } from "./SecretsField";
import type { TaskProps } from "./TaskFields";

/** Where a process begins, and what it is given. */
export function ProcessFold(part: TaskProps) {
  const { task, errors, set } = part;
  const e = useEditorT().editor;
  const said = useSaid();
  return (
    <Fold
      title={e.process}
      hint={e.processHint}
      said={said({
        "task.env": list(task.env),
        "task.dir": task.dir,
        "task.stdin": task.stdin,
        "task.secrets": list(task.secrets),
      })}
    >
      <div className="two">
        <Pairs
          label={e.env}
          hint={e.envHint}
          between="="
          placeholder="REGION=north"
          error={errors.get("task.env")}
          value={task.env}
          onChange={(env) => set({ env })}
        />
        <div className="f pairof">
          <TextField
            label={e.dir}
            mono
            value={task.dir ?? ""}
            error={errors.get("task.dir")}
            onChange={(dir) => set({ dir })}
          />
          <TextField
            label={e.stdin}
            mono
            value={task.stdin ?? ""}
            error={errors.get("task.stdin")}
            onChange={(stdin) => set({ stdin })}
          />
        </div>
      </div>
      <SecretsField {...part} />
    </Fold>
  );
}

/** The names of variables, as one reads them in a sentence. */
const list = (variables: Record<string, string> | undefined) => Object.keys(variables ?? {}).join(", ");
