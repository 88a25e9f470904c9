import { isValidElement, type ReactElement, type ReactNode } from "react";
import { Sideways } from "./Sideways";

/** What stands above a column: a text, to the right over figures, as they are; or a whole cell. */
export type Head = string | { right: string } | ReactElement;

interface TableProps {
  heads: Head[];
  /** What may be done with a row, in a column more. Its head is for those who do not see the table. */
  actions?: string;
  /** Rows of one line rather than two. */
  compact?: boolean;
  className?: string;
  /** The rows. */
  children: ReactNode;
}

/** A table in which one reads. It scrolls sideways by itself where there is no room for it. */
export function Table({ heads, actions, compact, className, children }: TableProps) {
  return (
    <Sideways>
      <table className={["tbl", compact && "c", className].filter(Boolean).join(" ")}>
        <thead>
          <tr>
            {heads.map((head) =>
              isValidElement(head) ? (
                head
              ) : typeof head === "string" ? (
                <th key={head}>{head}</th>
              ) : (
                <th key={head.right} className="r">
                  {head.right}
                </th>
              ),
            )}
            {actions && (
              <th className="r">
                <span className="sr">{actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Sideways>
  );
}
