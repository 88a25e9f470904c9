import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CalendarDays, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { calendarsQuery, deleteCalendar } from "@/api/cluster";
import type { CalendarItem } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Card, Empty, Failed, Skeleton } from "@/components/Panel";
import { AskDialog } from "@/shell/AskDialog";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { CalendarDialog } from "./CalendarDialog";
import { useCalendarT } from "./texts";

const shownDates = 24;
const shownWindows = 12;

/** Named sets of dates and windows, to which schedules refer. */
export default function CalendarsPage() {
  const t = useCalendarT();
  const client = useQueryClient();
  const query = useQuery(calendarsQuery);
  const mayEdit = useMay()("edit", "*");
  const [editing, setEditing] = useState<CalendarItem | "new">();
  const [removing, setRemoving] = useState<CalendarItem>();
  const create = (
    <Button look="primary" icon={Plus} onClick={() => setEditing("new")}>
      {t.calendars.create}
    </Button>
  );
  return (
    <Page crumbs={[{ text: t.calendars.title }]} actions={mayEdit && create}>
      <div className="pad">
        {query.isError ? (
          <Failed error={query.error} onRetry={() => void query.refetch()} />
        ) : query.isPending ? (
          <Skeleton />
        ) : query.data.items.length === 0 ? (
          <Empty icon={CalendarDays} title={t.calendars.none} hint={t.calendars.noneHint}>
            <pre className="code">carillon apply -f calendar.yaml</pre>
          </Empty>
        ) : (
          <div className="grid three-up">
            {query.data.items.map((item) => (
              <CalendarCard
                key={item.definition.calendar}
                item={item}
                onEdit={mayEdit ? () => setEditing(item) : undefined}
                onRemove={mayEdit ? () => setRemoving(item) : undefined}
              />
            ))}
          </div>
        )}
      </div>
      {editing && (
        <CalendarDialog
          item={editing === "new" ? undefined : editing}
          onClose={() => setEditing(undefined)}
        />
      )}
      {removing && (
        <AskDialog
          title={t.calendars.remove(removing.definition.calendar)}
          hint={t.calendars.removeHint}
          verb={t.act.remove}
          done={t.done.deleted(removing.definition.calendar)}
          act={() => deleteCalendar(removing.definition.calendar, removing.revision)}
          onDone={() => void client.invalidateQueries({ queryKey: calendarsQuery.queryKey })}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Page>
  );
}

interface CalendarCardProps {
  item: CalendarItem;
  onEdit: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}

function CalendarCard({ item, onEdit, onRemove }: CalendarCardProps) {
  const t = useCalendarT();
  const c = item.definition;
  const dates = c.dates ?? [];
  const windows = c.windows ?? [];
  return (
    <Card
      title={c.calendar}
      note={c.zone}
      aside={
        <span className="row g1">
          <span className="tag">v{c.version}</span>
          {onEdit && (
            <IconButton icon={Pencil} size={14} label={t.calendars.edit(c.calendar)} onClick={onEdit} />
          )}
          {onRemove && (
            <IconButton icon={Trash2} size={14} label={`${t.act.remove}: ${c.calendar}`} onClick={onRemove} />
          )}
        </span>
      }
    >
      <div className="b stack">
        {c.description && <p className="sec">{c.description}</p>}
        <p className="mut">
          {t.calendars.dates(dates.length)} · {t.calendars.windows(windows.length)}
        </p>
        <p className="row g1 wrap">
          {dates.slice(0, shownDates).map((d) => (
            <span key={d} className="tag mono">
              {d}
            </span>
          ))}
          {dates.length > shownDates && (
            <span className="mut">{t.calendars.more(dates.length - shownDates)}</span>
          )}
          {windows.slice(0, shownWindows).map((w) => (
            <span key={`${w.days} ${w.from} ${w.to}`} className="tag mono">
              {w.days} {w.from}–{w.to}
            </span>
          ))}
          {windows.length > shownWindows && (
            <span className="mut">{t.calendars.more(windows.length - shownWindows)}</span>
          )}
        </p>
      </div>
    </Card>
  );
}
