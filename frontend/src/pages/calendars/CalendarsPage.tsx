import { useQuery } from "@tanstack/react-query";
import { CalendarDays, Plus } from "lucide-react";
import { useState } from "react";
import { calendarsQuery, deleteCalendar } from "@/api/cluster";
import type { CalendarItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Card, Empty } from "@/components/Panel";
import { RowActions } from "@/components/RowActions";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RemoveDialog } from "@/shell/RemoveDialog";
import { CalendarDialog } from "./CalendarDialog";

const shownDates = 24;
const shownWindows = 12;

/** Named sets of dates and windows, to which schedules refer. */
export default function CalendarsPage() {
  const t = usePageT();
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
        {!query.data ? (
          <Waiting on={query} />
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
                actions={mayEdit && { onEdit: () => setEditing(item), onRemove: () => setRemoving(item) }}
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
        <RemoveDialog
          name={removing.definition.calendar}
          title={t.calendars.remove(removing.definition.calendar)}
          hint={t.calendars.removeHint}
          act={() => deleteCalendar(removing.definition.calendar, removing.revision)}
          stale={calendarsQuery.queryKey}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Page>
  );
}

interface CalendarCardProps {
  item: CalendarItem;
  /** Absent for those who may not change it. */
  actions: { onEdit(): void; onRemove(): void } | false;
}

function CalendarCard({ item, actions }: CalendarCardProps) {
  const t = usePageT();
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
          {actions && <RowActions name={c.calendar} edit={t.calendars.edit(c.calendar)} {...actions} />}
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
