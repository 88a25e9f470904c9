import type { CalendarFileEvent, CalendarFileRead } from "@/api/schema.gen";
import { Table } from "@/components/Table";
import { usePageT } from "@/i18n";

/** What became of each event of a file that was read. */
export function FileEvents({ read }: { read: CalendarFileRead }) {
  const c = usePageT().calendars;
  const taken = read.events.filter((e) => e.outcome === "imported").length;
  return (
    <div className="f" role="status">
      <p>
        {c.read(taken, read.events.length - taken)} {read.until && c.readUntil(read.until)}
      </p>
      <section className="calfile" aria-label={c.events} tabIndex={0}>
        <Table heads={[c.event, c.eventDates]} compact>
          {read.events.map((e) => (
            <tr key={e.line} className={e.outcome === "imported" ? undefined : "mut"}>
              <td>{e.title || "—"}</td>
              <td>
                <Days event={e} />
              </td>
            </tr>
          ))}
        </Table>
      </section>
    </div>
  );
}

function Days({ event: e }: { event: CalendarFileEvent }) {
  const c = usePageT().calendars;
  if (e.reason) return c.leftOut[e.reason];
  if (e.days) return <span className="mono">{c.every(e.days)}</span>;
  const [first = "—"] = e.dates;
  return (
    <span className="mono">
      {e.dates.length > 3 ? c.andMore(first, e.dates.length - 1) : e.dates.join(" ")}
    </span>
  );
}
