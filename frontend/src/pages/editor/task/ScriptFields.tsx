import type { ScriptTask } from "@/api/schema.gen";
import { CodeEditor, type Language } from "@/components/CodeEditor";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { beginnings, languages, type ScriptLanguage } from "./kinds";
import type { TaskProps } from "./TaskFields";

const modes: Record<ScriptLanguage, Language> = {
  python: "python",
  node: "javascript",
  shell: "shell",
  php: "php",
  powershell: "powershell",
  starlark: "python",
  groovy: "groovy",
};

/** A script in one of seven languages. A text that only its digest is known of is kept until another is written. */
export function ScriptFields({ task, errors, set }: TaskProps) {
  const t = useEditorT();
  const e = t.editor;
  const script: ScriptTask = task.script ?? { language: "python" };
  const source = script.source ?? "";
  const untouched = source === "" || Object.values(beginnings).includes(source);
  const toLanguage = (language: ScriptLanguage) =>
    set({ script: { language, source: untouched && !script.digest ? beginnings[language] : source } });
  const error =
    errors.get("task.script.source") ?? errors.get("task.script.language") ?? errors.get("task.script");
  return (
    <div className="f">
      <span className="lab">{e.script}</span>
      <div className="codebox">
        <div className="codehead">
          <Segments
            label={e.language}
            value={script.language}
            options={languages.map((l) => ({ value: l, label: e.languages[l] ?? l }))}
            onChange={toLanguage}
          />
          {script.digest && (
            <span className="mut mono trunc">{e.keptScript(script.digest.slice(0, 12))}</span>
          )}
          <span className="right mut hide-s">{e.scriptHint}</span>
        </div>
        <CodeEditor
          label={e.script}
          language={modes[script.language]}
          rows={12}
          value={source}
          onChange={(next) => set({ script: { language: script.language, source: next } })}
        />
      </div>
      {error && <p className="ferr">{error}</p>}
      {script.language === "starlark" && <p className="hint">{e.starlarkHint}</p>}
      {script.language === "groovy" && <p className="hint">{e.groovyHint}</p>}
    </div>
  );
}
