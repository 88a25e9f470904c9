import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { handlersQuery } from "@/api/groups";
import { TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import type { TaskProps } from "./TaskFields";

/** A handler by name, of those that the group's executors have announced, or any other. */
export function HandlerFields({ group, task, errors, set }: TaskProps) {
  const t = useEditorT();
  const e = t.editor;
  const listId = useId();
  const handlers = useQuery(handlersQuery(group)).data?.items ?? [];
  const known = handlers.find((h) => h.handler === task.handler);
  const hint = known
    ? [known.description, known.instances.length > 0 ? e.handlerOn(known.instances) : e.handlerGone]
        .filter(Boolean)
        .join(" ")
    : task.handler && handlers.length > 0
      ? e.unknownHandler
      : e.handlerHint(handlers.length);
  return (
    <>
      <TextField
        label={e.handler}
        mono
        value={task.handler ?? ""}
        list={listId}
        hint={hint}
        error={errors.get("task.handler")}
        onChange={(handler) => set({ handler })}
      />
      <datalist id={listId}>
        {handlers.map((h) => (
          <option key={h.handler} value={h.handler}>
            {h.description}
          </option>
        ))}
      </datalist>
    </>
  );
}
