import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { usePageT } from "@/i18n";
import type { Language } from "../CodeEditor";
import { languageOf, look, shadowOf } from "./setup";

interface DiffViewProps {
  label: string;
  before: string;
  after: string;
  language: Language;
}

export default function DiffView({ label, before, after, language }: DiffViewProps) {
  const { alike } = usePageT().job.versions;
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const el = host.current;
    if (!el) return;
    const root = shadowOf(el);
    const extensions = [
      look,
      languageOf(language),
      EditorState.readOnly.of(true),
      EditorState.phrases.of({ "$ unchanged lines": alike }),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ];
    const merge = new MergeView({
      a: { doc: before, extensions },
      b: { doc: after, extensions },
      parent: root,
      root,
      gutter: false,
      collapseUnchanged: { margin: 3, minSize: 6 },
    });
    merge.dom.style.minWidth = "620px"; // its host scrolls
    return () => merge.destroy();
  }, [label, before, after, language, alike]);
  return <div className="cm-host diff" ref={host} />;
}
