import { useQuery, useQueryClient } from "@tanstack/react-query";
import { endSessionsOf, sessionsOf } from "@/api/access";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { AskDialog } from "@/shell/AskDialog";
import { SessionList } from "./SessionList";

/** Shows an administrator where a user is signed in, and ends all of it. */
export function SessionsDialog({ user, onClose }: { user: string; onClose(): void }) {
  const t = usePageT();
  const s = t.settings;
  const client = useQueryClient();
  const list = useQuery(sessionsOf(user));
  return (
    <AskDialog
      title={s.sessionsOf(user)}
      hint={list.data?.items.length === 0 ? s.noSessions : s.endSessionsHint}
      verb={s.endSessions}
      disabled={list.data?.items.length === 0}
      done={s.sessionsEnded(user)}
      act={() => endSessionsOf(user)}
      onDone={() => void client.invalidateQueries({ queryKey: sessionsOf(user).queryKey })}
      onClose={onClose}
    >
      {list.data ? <SessionList sessions={list.data.items} /> : <Waiting on={list} rows={2} />}
    </AskDialog>
  );
}
