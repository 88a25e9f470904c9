import type { MonthReport } from "@/api/schema.gen";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { Listed } from "./Lists";

/** Which jobs, calendars and limits of groups were changed in the month. */
export function Changes({ report }: { report: MonthReport }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const m = t.month;
  return (
    <Listed
      title={m.changes}
      none={m.noChanges}
      heads={[m.when, m.who, m.what, m.note]}
      rows={[
        ...report.changes.map((c) => (
          <tr key={`${c.at} ${c.object}`}>
            <td className="num">{f.short(c.at, now)}</td>
            <td>{c.user}</td>
            <td className="wraps">
              {t.audit.operations[c.operation] ?? c.operation} <span className="sec">{c.object}</span>
            </td>
            <td className="wraps sec">{c.note}</td>
          </tr>
        )),
        ...(report.more_changes
          ? [
              <tr key="more">
                <td colSpan={4} className="mut">
                  {m.moreChanges}
                </td>
              </tr>,
            ]
          : []),
      ]}
    />
  );
}
