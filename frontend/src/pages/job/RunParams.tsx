import { useState } from "react";
import { CodeEditor } from "@/components/CodeEditor";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { paramsIn } from "@/lib/params";
import { isRecord, type SchemaField } from "@/lib/schema";
import { SchemaForm } from "../editor/task/SchemaForm";

interface RunParamsProps {
  fields: SchemaField[];
  /** The parameters as JSON, which the form changes too. */
  text: string;
  onChange(text: string): void;
}

/** The parameters of one run: as the form of a schema, or as JSON. */
export function RunParams({ fields, text, onChange }: RunParamsProps) {
  const t = useEditorT();
  const [asJson, setAsJson] = useState(false);
  const value = paramsIn(text);
  // What is no object can only be shown as it is.
  const formed = value !== undefined && (value.json === undefined || isRecord(value.json));
  const form = formed && !asJson;
  return (
    <div className="f">
      <span className="lab">
        {t.run.params}
        <span className="right">
          <Segments
            label={t.run.params}
            value={form ? "form" : "json"}
            options={[
              { value: "form", label: t.editor.form, disabled: !formed },
              { value: "json", label: "JSON" },
            ]}
            onChange={(next) => setAsJson(next === "json")}
          />
        </span>
      </span>
      {form ? (
        <SchemaForm
          fields={fields}
          value={value.json}
          onChange={(next) => onChange(writeJson(next ?? {}, 2))}
        />
      ) : (
        <CodeEditor label={t.run.params} language="json" value={text} onChange={onChange} rows={10} />
      )}
    </div>
  );
}
