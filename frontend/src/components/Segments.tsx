import type { ReactNode } from "react";

interface SegmentsProps<T extends string> {
  label: string;
  value: T;
  options: { value: NoInfer<T>; label: ReactNode; disabled?: boolean }[];
  onChange(value: NoInfer<T>): void;
}

/** A choice of one among a few, all of them visible. */
export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  return (
    <fieldset className="seg" aria-label={label}>
      {options.map((o) => (
        <button
          type="button"
          key={o.value}
          className={o.value === value ? "on" : undefined}
          aria-pressed={o.value === value}
          disabled={o.disabled}
          onClick={() => onChange(o.value)}
        >
          {o.label}
        </button>
      ))}
    </fieldset>
  );
}

/** The same as a field of a form, with its label above. */
export function SegmentsField<T extends string>(props: SegmentsProps<T>) {
  return (
    <div className="f">
      <span className="lab">{props.label}</span>
      <Segments {...props} />
    </div>
  );
}
