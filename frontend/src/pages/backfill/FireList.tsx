import { useRef } from "react";
import type { LedgerEntry } from "@/api/schema.gen";
import { Status } from "@/components/Status";
import { useWindow } from "@/components/useWindow";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useSayer } from "@/lib/reason";
import { Outcome } from "@/pages/ledger/Outcome";

const rowHeight = 34;

/** Every fire that a backfill would run, with what had become of it. */
export function FireList({ fires, zone }: { fires: LedgerEntry[]; zone: string }) {
  const t = usePageT();
  const { say } = useSayer();
  const f = useFormat().in(zone);
  const scroller = useRef<HTMLElement>(null);
  const view = useWindow(scroller, fires.length, rowHeight);
  if (fires.length === 0) return null;
  return (
    <section className="firelist" ref={scroller} aria-label={t.backfill.which} tabIndex={0}>
      <table className="tbl c">
        <thead>
          <tr>
            <th>
              {t.backfill.fire} <span className="mut">{zone}</span>
            </th>
            <th>{t.backfill.became}</th>
            <th>{t.backfill.reason}</th>
          </tr>
        </thead>
        <tbody>
          {view.before > 0 && <tr style={{ height: view.before }} aria-hidden />}
          {fires.slice(view.from, view.to).map((e) => (
            <tr key={e.fire_time}>
              <td className="num nowrap">
                {f.day(e.fire_time)} {f.time(e.fire_time)}
              </td>
              <td>{e.status ? <Status status={e.status} /> : <Outcome outcome={e.outcome} />}</td>
              <td className="result">
                <span className="sec">{say(e.reason)}</span>
              </td>
            </tr>
          ))}
          {view.after > 0 && <tr style={{ height: view.after }} aria-hidden />}
        </tbody>
      </table>
    </section>
  );
}
