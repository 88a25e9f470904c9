import { useQuery } from "@tanstack/react-query";
import { CalendarClock } from "lucide-react";
import { schedulePreview } from "@/api/schedule";
import type { Job, Schedule } from "@/api/schema.gen";
import { useEditorT } from "@/i18n";
import { isZone, useFormat } from "@/lib/format";
import { changedFields } from "@/lib/merge";

/** Of so many fires the first that will run is the next; a calendar may skip those before it. */
const looked = 10;

/** Says where another schedule moves the next fire to; nothing while the schedule is the same. */
export function NextFire({ before, after }: { before: Job; after: Job }) {
  const [was, is]: [Schedule, Schedule] = [before.schedule ?? {}, after.schedule ?? {}];
  if (changedFields(was, is).length === 0) return null;
  return <Moved job={after.job} was={was} is={is} />;
}

function Moved({ job, was, is }: { job: string; was: Schedule; is: Schedule }) {
  const t = useEditorT();
  const f = useFormat().in(is.zone && isZone(is.zone) ? is.zone : "UTC");
  const queries = [useQuery(schedulePreview(was, job, looked)), useQuery(schedulePreview(is, job, looked))];
  const [from, to] = queries.map((q) => q.data?.fires.find((fire) => !fire.skipped)?.due);
  if (queries.some((q) => !q.data || q.isPlaceholderData)) return null;
  const write = (at: string) => `${f.day(at)} ${f.time(at)}`;
  const n = t.editor.nextFire;
  return (
    <p className="note info">
      <CalendarClock size={15} aria-hidden />
      {from && to
        ? from === to
          ? n.stays(write(to))
          : n.moves(write(from), write(to))
        : to
          ? n.begins(write(to))
          : from
            ? n.ends(write(from))
            : n.none}
    </p>
  );
}
