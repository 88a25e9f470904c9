import type { ReactNode } from "react";
import type { Job } from "@/api/schema.gen";
import "./section.css";

/** What every section of the form works on. */
export interface SectionProps {
  doc: Job;
  onChange(next: Job): void;
  /** What is wrong, by the path of the field. */
  errors: ReadonlyMap<string, string>;
}

export function Section({ title, hint, children }: { title: string; hint: string; children: ReactNode }) {
  return (
    <section className="sect">
      <div>
        <h2>{title}</h2>
        <p>{hint}</p>
      </div>
      <div className="fields">{children}</div>
    </section>
  );
}

/** Whether a field, or one below it, is wrong: then it is shown, also where it has no use. */
export const isWrong = (errors: SectionProps["errors"], ...fields: string[]) =>
  [...errors.keys()].some((wrong) => fields.some((f) => wrong === f || wrong.startsWith(`${f}.`)));

/** Returns an object without the fields that are empty, so that a document says only what was set. */
export function without<T extends object>(value: T): T {
  const kept = Object.entries(value).filter(
    ([, v]) => v !== undefined && v !== "" && !(Array.isArray(v) && v.length === 0),
  );
  return Object.fromEntries(kept) as T;
}
