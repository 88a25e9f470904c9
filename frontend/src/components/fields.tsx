import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { useT } from "@/i18n";
import { parseDuration } from "@/lib/duration";

interface FieldProps {
  label: ReactNode;
  /** It may stay empty. */
  optional?: boolean;
  hint?: ReactNode;
  error?: string;
  children(ids: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean | undefined;
  }): ReactNode;
}

/** A field with its label above, and below it what is wrong or what to know. */
export function Field({ label, optional, hint, error, children }: FieldProps) {
  const t = useT();
  const id = useId();
  const note = error ?? hint;
  return (
    <div className="f">
      <label htmlFor={id}>
        {label} {optional && <span className="mut">{t.act.optional}</span>}
      </label>
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

interface TextFieldProps
  extends Omit<ComponentProps<"input">, "onChange" | "value" | "className" | "children"> {
  label: ReactNode;
  value: string;
  onChange(value: string): void;
  optional?: boolean;
  hint?: ReactNode;
  error?: string;
  /** Of a name or a number: set as code, and not checked for its spelling. */
  mono?: boolean;
}

export function TextField({ label, value, onChange, optional, hint, error, mono, ...rest }: TextFieldProps) {
  return (
    <Field label={label} optional={optional} hint={hint} error={error}>
      {(ids) => (
        <span className={error ? "inp bad" : "inp"}>
          <input
            {...ids}
            autoComplete="off"
            spellCheck={!mono}
            {...rest}
            className={mono ? "mono" : undefined}
            value={value}
            onChange={(e) => onChange(e.target.value)}
          />
        </span>
      )}
    </Field>
  );
}

interface WallFieldProps {
  label: ReactNode;
  /** What a wall clock shows, as in 2026-11-29T14:30; empty for none. */
  value: string;
  onChange(value: string): void;
  hint?: ReactNode;
  error?: string;
}

const wallTime = /^\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d$/;

/** A date and a time of day, in 24 hours whatever the browser's language has. What is none of them is no value. */
export function WallField({ value, onChange, error, ...rest }: WallFieldProps) {
  const t = useT();
  const [text, setText] = useState<string>();
  const written = text ?? value.replace("T", " ");
  const wrong = written !== "" && !isWall(written);
  return (
    <TextField
      {...rest}
      mono
      inputMode="numeric"
      placeholder="2026-11-29 14:30"
      value={written}
      error={wrong && text !== undefined && text.length >= 16 ? t.time.wall : error}
      onChange={(next) => {
        setText(next);
        onChange(isWall(next) ? next.replace(" ", "T") : "");
      }}
      onBlur={() => !wrong && setText(undefined)}
    />
  );
}

const isWall = (text: string) =>
  wallTime.test(text) && !Number.isNaN(Date.parse(`${text.replace(" ", "T")}Z`));

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

interface DurationFieldProps {
  label: ReactNode;
  value: string | undefined;
  onChange(value: string | undefined): void;
  placeholder?: string;
  hint?: ReactNode;
  error?: string;
}

/** A length of time as documents write it. What is none is said at once, below the field. */
export function DurationField({ value = "", onChange, error, ...rest }: DurationFieldProps) {
  const t = useT();
  const bad = value !== "" && parseDuration(value) === undefined ? t.error.badDuration : undefined;
  return (
    <TextField
      {...rest}
      mono
      value={value}
      error={error ?? bad}
      onChange={(v) => onChange(v.trim() === "" ? undefined : v.trim())}
    />
  );
}

interface NumberFieldProps {
  label: ReactNode;
  value: number | undefined;
  onChange(value: number | undefined): void;
  min?: number;
  max?: number;
  /** Defaults to whole numbers. */
  step?: "any";
  placeholder?: string;
  hint?: ReactNode;
  error?: string;
}

/** A number, or nothing. */
export function NumberField({
  value,
  onChange,
  min,
  max,
  step,
  hint,
  label,
  error,
  placeholder,
}: NumberFieldProps) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <span className={error ? "inp bad" : "inp"}>
          <input
            {...ids}
            type="number"
            inputMode={step ? "decimal" : "numeric"}
            min={min}
            max={max}
            step={step}
            placeholder={placeholder}
            value={value ?? ""}
            onChange={(e) => onChange(e.target.value === "" ? undefined : Number(e.target.value))}
          />
        </span>
      )}
    </Field>
  );
}

/** A NumberField that is empty for 0. */
export function CountField({ value, onChange, ...rest }: NumberFieldProps) {
  return <NumberField {...rest} value={value || undefined} onChange={(n) => onChange(n || undefined)} />;
}

interface LinesProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  placeholder?: string;
  value: string[];
  onChange(lines: string[]): void;
}

/** Several texts, one a line. Empty lines are kept while one types, and left out of the value. */
export function Lines({ label, hint, error, placeholder, value, onChange }: LinesProps) {
  const [text, setText] = useState(value.join("\n"));
  const shown = text.split("\n").filter(Boolean).join("\n") === value.join("\n") ? text : value.join("\n");
  return (
    <Field label={label} hint={hint} error={error}>
      {(ids) => (
        <textarea
          {...ids}
          className="area mono"
          rows={Math.max(2, Math.min(8, shown.split("\n").length))}
          spellCheck={false}
          placeholder={placeholder}
          value={shown}
          onChange={(e) => {
            setText(e.target.value);
            onChange(e.target.value.split("\n").filter(Boolean));
          }}
        />
      )}
    </Field>
  );
}

interface PairsProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  placeholder?: string;
  /** What stands between a name and its value. */
  between: "=" | ": ";
  value: Record<string, string> | undefined;
  onChange(value: Record<string, string> | undefined): void;
}

/** Names with values, one a line. A line that has no value yet stays in the field, and out of the document. */
export function Pairs({ between, value, onChange, ...rest }: PairsProps) {
  const sign = between.trim();
  const toLines = (v: Record<string, string> | undefined) =>
    Object.entries(v ?? {}).map(([k, x]) => `${k}${between}${x}`);
  const toPairs = (lines: string[]) =>
    Object.fromEntries(
      lines
        .filter((l) => l.indexOf(sign) > 0)
        .map((l) => [l.slice(0, l.indexOf(sign)).trim(), l.slice(l.indexOf(sign) + 1).trimStart()]),
    );
  const [lines, setLines] = useState(() => toLines(value));
  const same = JSON.stringify(toPairs(lines)) === JSON.stringify(value ?? {});
  return (
    <Lines
      {...rest}
      value={same ? lines : toLines(value)}
      onChange={(next) => {
        setLines(next);
        const pairs = toPairs(next);
        onChange(Object.keys(pairs).length === 0 ? undefined : pairs);
      }}
    />
  );
}

interface CheckProps {
  label: ReactNode;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
}

export function Check({ label, checked, onChange, disabled }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        className="ck"
        checked={checked}
        disabled={disabled}
        onChange={(e) => onChange(e.target.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
