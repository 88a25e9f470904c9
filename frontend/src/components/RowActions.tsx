import { Pencil, Trash2 } from "lucide-react";
import { useT } from "@/i18n";
import { IconButton } from "./Button";

interface RowActionsProps {
  /** What is edited or removed. */
  name: string;
  /** How editing it is called. */
  edit: string;
  onEdit(): void;
  onRemove(): void;
}

/** At the end of a row: a pencil and a bin. */
export function RowActions({ name, edit, onEdit, onRemove }: RowActionsProps) {
  const t = useT();
  return (
    <>
      <IconButton icon={Pencil} size={14} label={edit} onClick={onEdit} />
      <IconButton icon={Trash2} size={14} label={`${t.act.remove}: ${name}`} onClick={onRemove} />
    </>
  );
}
