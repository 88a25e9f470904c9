import type { BulkBackfillPlan } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Table } from "@/components/Table";
import { othersInWords } from "@/lib/bulkbackfill";
import { usePageWords } from "@/lib/format";
import { useSayer } from "@/lib/reason";

/** What a backfill would run of each job, and why not of some. */
export function PlanList({ items }: { items: BulkBackfillPlan[] }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const b = t.bulkBackfill;
  return (
    <section className="firelist" aria-label={b.jobs} tabIndex={0}>
      <Table heads={[b.job, { right: b.fires }, b.why, b.others]} compact>
        {items.map((x) => (
          <tr key={x.job}>
            <td>
              <JobTitle job={x.job} keyed />
            </td>
            <td className={x.fires > 0 ? "r num" : "r num mut"}>{f.number(x.fires)}</td>
            <td className="sec">{x.problem && (say(x.problem.reason) || x.problem.detail)}</td>
            <td className="mut">
              {[x.left_out > 0 && b.leftOut(x.left_out), othersInWords(x.others, t.ledger.outcomes)]
                .filter(Boolean)
                .join(", ")}
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
