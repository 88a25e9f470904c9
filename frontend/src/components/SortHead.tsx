import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { nextSort, type Sort } from "@/lib/columns";

interface SortHeadProps<C extends string> {
  by: C;
  sort: Sort<C> | undefined;
  /** The greatest come first at the first click, as with figures that one looks for the worst of. */
  down?: boolean;
  /** Of figures, which stand to the right. */
  right?: boolean;
  onSort(sort: Sort<C> | undefined): void;
  children: ReactNode;
}

/** The head of a column by which rows can be sorted. */
export function SortHead<C extends string>({
  by,
  sort,
  down = false,
  right,
  onSort,
  children,
}: SortHeadProps<C>) {
  const on = sort?.by === by;
  const Arrow = sort?.down ? ArrowDown : ArrowUp;
  return (
    <th
      className={right ? "r" : undefined}
      aria-sort={on ? (sort.down ? "descending" : "ascending") : undefined}
    >
      <button type="button" className="sorter" onClick={() => onSort(nextSort(sort, by, down))}>
        {children}
        {on && <Arrow size={12} aria-hidden />}
      </button>
    </th>
  );
}
