import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { handlersQuery } from "@/api/groups";
import { CodeEditor } from "@/components/CodeEditor";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { readJson, writeJson } from "@/lib/exact";
import { fieldsOf, isRecord } from "@/lib/schema";
import { SchemaForm } from "./SchemaForm";

interface ParamsFieldProps {
  group: string;
  handler: string | undefined;
  /** The job's own schema, which goes before the handler's. */
  schema?: unknown;
  value: unknown;
  onChange(value: unknown): void;
  error: string | undefined;
}

/** Parameters: as the form that the job's schema or the handler's describes, or as JSON. */
export function ParamsField({ group, handler, schema, value, onChange, error }: ParamsFieldProps) {
  const t = useEditorT();
  const handlers = useQuery({ ...handlersQuery(group), enabled: Boolean(handler) }).data?.items;
  const fields = fieldsOf(schema ?? handlers?.find((h) => h.handler === handler)?.params_schema);
  const [asJson, setAsJson] = useState(false);
  // What is no object can only be shown as it is.
  const form = fields && fields.length > 0 && (value === undefined || isRecord(value)) && !asJson;
  return (
    <div className="f">
      <span className="lab">
        {t.editor.params} <span className="mut">{t.act.optional}</span>
        {fields && fields.length > 0 && (
          <span className="right">
            <Segments
              label={t.editor.params}
              value={form ? "form" : "json"}
              options={[
                { value: "form", label: t.editor.form, disabled: !(value === undefined || isRecord(value)) },
                { value: "json", label: "JSON" },
              ]}
              onChange={(next) => setAsJson(next === "json")}
            />
          </span>
        )}
      </span>
      {form ? (
        <>
          <SchemaForm fields={fields} value={value} onChange={onChange} />
          {error && <p className="ferr">{error}</p>}
        </>
      ) : (
        <JsonField
          label={t.editor.params}
          value={value}
          onChange={onChange}
          error={error}
          hint={t.editor.paramsHint}
        />
      )}
    </div>
  );
}

interface JsonFieldProps {
  label: string;
  value: unknown;
  onChange(value: unknown): void;
  error?: string;
  hint?: string;
  rows?: number;
}

/** Any JSON value. What is no JSON yet stays in the field, and the document keeps the last that was. */
export function JsonField({ label, value, onChange, error, hint, rows = 3 }: JsonFieldProps) {
  const t = useEditorT();
  const [text, setText] = useState(() => (value === undefined ? "" : writeJson(value, 2)));
  const [bad, setBad] = useState(false);
  const change = (next: string) => {
    setText(next);
    if (next.trim() === "") {
      setBad(false);
      onChange(undefined);
      return;
    }
    try {
      onChange(readJson(next));
      setBad(false);
    } catch {
      setBad(true);
    }
  };
  return (
    <>
      <CodeEditor label={label} language="json" rows={rows} value={text} onChange={change} />
      {(bad || error || hint) && (
        <p className={bad || error ? "ferr" : "hint"}>{bad ? t.job.badJson : (error ?? hint)}</p>
      )}
    </>
  );
}
