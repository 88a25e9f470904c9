import { type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useT } from "@/i18n";
import { AskDialog } from "./AskDialog";

interface RemoveDialogProps {
  name: string;
  title: string;
  hint: string;
  /** Another verb than to remove, and what the toast then says. */
  verb?: string;
  done?: string;
  act(): Promise<unknown>;
  /** The lists that show it. */
  stale: QueryKey;
  onClose(): void;
}

/** Asks before something is removed, and has the lists that show it read anew. */
export function RemoveDialog({ name, stale, verb, done, ...ask }: RemoveDialogProps) {
  const t = useT();
  const client = useQueryClient();
  return (
    <AskDialog
      {...ask}
      verb={verb ?? t.act.remove}
      done={done ?? t.done.deleted(name)}
      onDone={() => void client.invalidateQueries({ queryKey: stale })}
    />
  );
}
