import { CircleCheck, TriangleAlert } from "lucide-react";
import type { ReportRow } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { verdictInWords } from "@/lib/target";

/** Whether a job meets its target; a dash if it has none. */
export function Verdict({ row }: { row: ReportRow }) {
  const text = verdictInWords(row, usePageT());
  if (!row.target || !text) return <span className="mut">—</span>;
  const Icon = row.target.met ? CircleCheck : TriangleAlert;
  return (
    <span className={row.target.met ? "st c-ok" : "st c-bad"}>
      <Icon size={14} aria-hidden /> {text}
    </span>
  );
}
