import { ChevronRight } from "lucide-react";
import { Fragment, type ReactNode, useEffect, useRef } from "react";
import { usePageT } from "@/i18n";

/** A value that is set, with the name of its field, unless it says by itself what it is about. */
export interface Said {
  name?: string;
  value: string | number;
}

interface FoldProps {
  title: string;
  /** What the fields are about: in the head while there is nothing else to show. */
  hint: string;
  /** What is set in it; empty if all fields have their defaults. */
  said: readonly Said[];
  /** What is wrong with what is set, though it can be saved. */
  warning?: string;
  children: ReactNode;
}

/**
 * Fields of the form that a first job does without. The head shows what is set in them. A fold
 * with an error in it is open; the browser opens it for what it finds in the page.
 */
export function Fold({ title, hint, said, warning, children }: FoldProps) {
  const fold = useRef<HTMLDetailsElement>(null);
  const headed = said.length > 0 || warning !== undefined;
  useEffect(() => {
    if (fold.current?.querySelector(".ferr")) fold.current.open = true;
  });
  return (
    <details className="fold" ref={fold}>
      <summary>
        <h2>
          <ChevronRight size={14} aria-hidden />
          {title}
        </h2>
        <span>
          {said.map(({ name, value }, i) => (
            <Fragment key={`${name} ${value}`}>
              {i > 0 && " · "}
              {name && <span className="mut">{name} </span>}
              {value}
            </Fragment>
          ))}{" "}
          {warning && <span className="c-warn">{warning}</span>}
          {!headed && <span className="mut">{hint}</span>}
        </span>
      </summary>
      <div className="fields">
        {headed && <p className="hint">{hint}</p>}
        {children}
      </div>
    </details>
  );
}

/** Returns a function that names the fields that are set: Timeout 5m. */
export function useSaid(): (values: Record<string, string | number | undefined>) => Said[] {
  const names = usePageT().fieldNames;
  return (values) =>
    Object.entries(values).flatMap(([field, value]) =>
      value === undefined || value === "" ? [] : [{ name: names[field] ?? field, value }],
    );
}
