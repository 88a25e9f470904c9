import { lazy, Suspense } from "react";
import { useLocked } from "./ReadOnly";

const CodeMirror = lazy(() => import("./code/CodeMirror"));
const DiffView = lazy(() => import("./code/DiffView"));

export type Language =
  | "json"
  | "yaml"
  | "shell"
  | "python"
  | "javascript"
  | "php"
  | "powershell"
  | "groovy"
  | "text";

export interface CodeEditorProps {
  label: string;
  language: Language;
  value: string;
  /** Without it the text can only be read. */
  onChange?(value: string): void;
  /** The least height, in lines. */
  rows?: number;
  /** A line that is wrong, counted from 1. */
  badLine?: number;
}

/** A code editor, whose parts are only loaded where one is shown. */
export function CodeEditor(props: CodeEditorProps) {
  const locked = useLocked();
  return (
    <Suspense
      fallback={<div className="cm-host loading" style={{ minHeight: (props.rows ?? 6) * 20 + 16 }} />}
    >
      <CodeMirror {...props} onChange={locked ? undefined : props.onChange} />
    </Suspense>
  );
}

/** Two texts side by side, with what differs marked. */
export function Diff(props: { label: string; before: string; after: string; language: Language }) {
  return (
    <Suspense fallback={<div className="cm-host loading" />}>
      <DiffView {...props} />
    </Suspense>
  );
}
