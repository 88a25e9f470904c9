import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";

/** Shows a table in the place of a chart, or the chart again. */
export function TableButton({ shown, onChange }: { shown: boolean; onChange(next: boolean): void }) {
  const t = useT();
  return (
    <Button small look="ghost" onClick={() => onChange(!shown)}>
      {shown ? t.overview.asChart : t.overview.asTable}
    </Button>
  );
}

interface ChartTableProps {
  label: string;
  /** What the values of each row are. */
  heads: string[];
  /** From when on each row is, and its values as they are written. */
  rows: { at: number; from: ReactNode; values: string[] }[];
}

/** What a chart draws over time, in numbers. */
export function ChartTable({ label, heads, rows }: ChartTableProps) {
  const t = useT();
  return (
    <section className="b trendtable" aria-label={label} tabIndex={0}>
      <table className="tbl c">
        <thead>
          <tr>
            <th>{t.overview.chartFrom}</th>
            {heads.map((head) => (
              <th key={head} className="r">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ at, from, values }) => (
            <tr key={at}>
              <td className="num">{from}</td>
              {heads.map((head, i) => (
                <td key={head} className="r num">
                  {values[i]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
