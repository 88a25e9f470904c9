import { CirclePause } from "lucide-react";
import type { ReactNode } from "react";
import type { Group } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";

/** Says of a paused group since when it is, until when, by whom and why; else nothing. */
export function GroupPauseNote({ group, children }: { group: Group | undefined; children?: ReactNode }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  if (!group?.pause) return null;
  const { effective_from, until, author = "", note } = group.pause;
  const since = f.short(effective_from ?? now, now);
  return (
    <div className="note warn">
      <CirclePause size={15} aria-hidden />
      <span>
        {until
          ? t.fleet.pause.noteUntil(group.executor_group, since, author, f.short(until, now))
          : t.fleet.pause.note(group.executor_group, since, author)}{" "}
        {note && `“${note}”`} {children}
      </span>
    </div>
  );
}
