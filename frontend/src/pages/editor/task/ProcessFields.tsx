import { Pairs, TextField } from "@/components/fields";
import { usePageT } from "@/i18n";
import type { TaskProps } from "./TaskFields";

/** Where a process begins, and what it is given. */
export function ProcessFields({ task, errors, set }: TaskProps) {
  const e = usePageT().editor;
  return (
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
  );
}
