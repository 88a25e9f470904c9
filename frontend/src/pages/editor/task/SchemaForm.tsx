import { Choice, Lines, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { Exact, numberOf, readJson, writeJson } from "@/lib/exact";
import { isRecord, type SchemaField, withProperty } from "@/lib/schema";
import { JsonField } from "./ParamsField";

interface SchemaFormProps {
  fields: SchemaField[];
  value: unknown;
  onChange(value: Record<string, unknown> | undefined): void;
}

/** The fields of a JSON schema as controls. A field that is left empty is left out of the value. */
export function SchemaForm({ fields, value, onChange }: SchemaFormProps) {
  const of = isRecord(value) ? value : {};
  return (
    <div className="schemaform">
      {fields.map((f) => (
        <Control
          key={f.name}
          field={f}
          value={of[f.name]}
          onChange={(next) => onChange(withProperty(value, f.name, next))}
        />
      ))}
    </div>
  );
}

interface ControlProps {
  field: SchemaField;
  value: unknown;
  onChange(value: unknown): void;
}

function Control({ field: f, value, onChange }: ControlProps) {
  const t = useEditorT();
  const label = (
    <>
      <span className="mono">{f.name}</span>
      {f.title && <span className="mut">{f.title}</span>}
      {f.required && <span className="need">{t.editor.needed}</span>}
    </>
  );
  const preset = f.preset === undefined ? undefined : t.editor.preset(writeJson(f.preset));
  const hint = [f.hint, preset].filter(Boolean).join(" · ") || undefined;
  const error = f.required && value === undefined ? t.editor.required : undefined;
  switch (f.kind) {
    case "text":
      return (
        <TextField
          {...{ label, hint, error }}
          value={typeof value === "string" ? value : ""}
          onChange={(v) => onChange(v === "" ? undefined : v)}
        />
      );
    case "integer":
    case "number":
      return (
        <TextField
          {...{ label, hint }}
          type="number"
          value={typeof value === "number" || value instanceof Exact ? String(value) : ""}
          error={error ?? outside(f, value, t.editor.between)}
          onChange={(v) => onChange(v === "" ? undefined : numberOf(v))}
        />
      );
    case "yesno":
      return (
        <Choice
          {...{ label, hint, error }}
          value={value === true ? "yes" : value === false ? "no" : ""}
          options={[
            { value: "", label: t.act.unset },
            { value: "yes", label: t.editor.yes },
            { value: "no", label: t.editor.no },
          ]}
          onChange={(v) => onChange(v === "" ? undefined : v === "yes")}
        />
      );
    case "choice":
      return (
        <Choice
          {...{ label, hint, error }}
          value={value === undefined ? "" : JSON.stringify(value)}
          options={[
            { value: "", label: t.act.unset },
            ...f.choices.map((c) => ({
              value: JSON.stringify(c),
              label: typeof c === "string" ? c : writeJson(c),
            })),
          ]}
          onChange={(v) => onChange(v === "" ? undefined : readJson(v))}
        />
      );
    case "list":
      return (
        <Lines
          {...{ label, error }}
          hint={hint ?? t.editor.oneALine}
          value={Array.isArray(value) ? value.map(String) : []}
          onChange={(lines) => {
            const items = f.of === "text" ? lines : lines.map(numberOf).filter((n) => !Number.isNaN(n));
            onChange(items.length === 0 ? undefined : items);
          }}
        />
      );
    case "group":
      return (
        <fieldset className="schemagroup">
          <legend>{label}</legend>
          {hint && <p className="hint">{hint}</p>}
          <SchemaForm fields={f.fields} value={value} onChange={onChange} />
        </fieldset>
      );
    case "json":
      return (
        <div className="f wide">
          <span className="lab">{label}</span>
          <JsonField label={f.name} value={value} onChange={onChange} error={error} hint={hint} rows={2} />
        </div>
      );
  }
}

function outside(
  f: SchemaField,
  value: unknown,
  say: (min: number | undefined, max: number | undefined) => string,
): string | undefined {
  if (typeof value !== "number" && !(value instanceof Exact)) return undefined;
  const near = Number(value);
  const low = f.min !== undefined && near < f.min;
  const high = f.max !== undefined && near > f.max;
  return low || high || (f.kind === "integer" && !Number.isInteger(near)) ? say(f.min, f.max) : undefined;
}
