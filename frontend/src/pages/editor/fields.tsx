import { type ReactNode, useId } from "react";
import type { Job } from "@/api/schema.gen";

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

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  children(ids: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  }): ReactNode;
}

/** A field with its label above, and below it what is wrong or what to know. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="f">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "aria-describedby": note ? `${id}-note` : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {note && (
        <p id={`${id}-note`} className={error ? "ferr" : "hint"}>
          {note}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  label: ReactNode;
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  error?: string;
  placeholder?: string;
  mono?: boolean;
  disabled?: boolean;
  type?: string;
  list?: string;
}

export function TextField({ label, value, onChange, hint, error, mono, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <span className={error ? "inp bad" : "inp"}>
          <input
            {...ids}
            {...rest}
            className={mono ? "mono" : undefined}
            value={value}
            autoComplete="off"
            spellCheck={!mono}
            onChange={(e) => onChange(e.target.value)}
          />
        </span>
      )}
    </Field>
  );
}

interface ChoiceProps<T extends string> {
  label: ReactNode;
  value: T;
  options: { value: T; label: string }[];
  onChange(value: T): void;
  hint?: ReactNode;
  error?: string;
}

export function Choice<T extends string>({ label, value, options, onChange, hint, error }: ChoiceProps<T>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <select
          {...ids}
          className="select"
          value={value}
          onChange={(e) => {
            const chosen = options.find((o) => o.value === e.target.value);
            if (chosen) onChange(chosen.value);
          }}
        >
          {options.map((o) => (
            <option key={o.value} value={o.value}>
              {o.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Returns an object without the fields that are empty, so that a document says only what was set. */
export function without<T extends object>(value: T): T {
  const kept = Object.entries(value).filter(
    ([, v]) => v !== undefined && v !== "" && !(Array.isArray(v) && v.length === 0),
  );
  return Object.fromEntries(kept) as T;
}
