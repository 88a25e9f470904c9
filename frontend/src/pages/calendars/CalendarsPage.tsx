import { useQuery } from "@tanstack/react-query";
import { CalendarDays } from "lucide-react";
import { calendarsQuery } from "@/api/cluster";
import { Card, Empty, Failed, Skeleton } from "@/components/Panel";
import { useWords } from "@/lib/format";
import { Page } from "@/shell/Page";

/** Named sets of dates and windows, to which schedules refer. They are kept as files, and applied. */
export default function CalendarsPage() {
  const { t } = useWords();
  const query = useQuery(calendarsQuery);
  return (
    <Page crumbs={[{ text: t.calendars.title }]}>
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
            {query.data.items.map(({ definition: c }) => (
              <Card
                key={c.calendar}
                title={c.calendar}
                note={c.zone}
                aside={<span className="tag">v{c.version}</span>}
              >
                <div className="b stack">
                  {c.description && <p className="sec">{c.description}</p>}
                  <p className="mut">
                    {t.calendars.dates(c.dates?.length ?? 0)} · {t.calendars.windows(c.windows?.length ?? 0)}
                  </p>
                  <p className="row g1 wrap">
                    {c.dates?.slice(0, 24).map((d) => (
                      <span key={d} className="tag mono">
                        {d}
                      </span>
                    ))}
                    {c.windows?.slice(0, 12).map((w) => (
                      <span key={`${w.days} ${w.from}`} className="tag mono">
                        {w.days} {w.from}–{w.to}
                      </span>
                    ))}
                  </p>
                </div>
              </Card>
            ))}
          </div>
        )}
      </div>
    </Page>
  );
}
