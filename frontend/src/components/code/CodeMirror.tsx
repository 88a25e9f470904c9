import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { Compartment, EditorState, RangeSetBuilder } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useT } from "@/i18n";
import type { CodeEditorProps } from "../CodeEditor";
import { languageOf, look, shadowOf } from "./setup";

/** Escape, then Tab, leaves the editor: else Tab would hold the keyboard in it. */
const tabTrap = new Compartment();
const language = new Compartment();
const mark = new Compartment();

function releaseTab(view: EditorView): boolean {
  view.dispatch({ effects: tabTrap.reconfigure([]) });
  return true;
}

export default function CodeMirror({
  label,
  language: name,
  value,
  onChange,
  rows = 6,
  badLine,
}: CodeEditorProps) {
  const t = useT();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  // What was typed and has not come back as the value yet, the oldest first.
  const said = useRef<string[]>([]);
  const isEditable = onChange !== undefined;

  // biome-ignore lint/correctness/useExhaustiveDependencies: the text goes in below, without a new editor
  useEffect(() => {
    const el = host.current;
    if (!el) return;
    const root = shadowOf(el);
    const editor = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: value,
        extensions: [
          look,
          language.of(languageOf(name)),
          mark.of([]),
          indentUnit.of("  "),
          EditorView.contentAttributes.of({
            "aria-label": isEditable ? `${label}. ${t.act.escape}` : label,
            tabindex: "0",
          }),
          isEditable
            ? [
                history(),
                drawSelection(),
                bracketMatching(),
                indentOnInput(),
                highlightActiveLine(),
                tabTrap.of(keymap.of([indentWithTab])),
                keymap.of([{ key: "Escape", run: releaseTab }, ...defaultKeymap, ...historyKeymap]),
                EditorView.domEventHandlers({
                  focus: (_, v) => v.dispatch({ effects: tabTrap.reconfigure(keymap.of([indentWithTab])) }),
                }),
                EditorView.updateListener.of((u) => {
                  if (!u.docChanged) return;
                  const text = u.state.doc.toString();
                  said.current.push(text);
                  latest.current?.(text);
                }),
              ]
            : [EditorState.readOnly.of(true)],
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [isEditable, label, t]);

  useEffect(() => {
    view.current?.dispatch({ effects: language.reconfigure(languageOf(name)) });
  }, [name]);

  useEffect(() => {
    const editor = view.current;
    const echo = said.current.indexOf(value);
    said.current = echo < 0 ? [] : said.current.slice(echo + 1);
    if (said.current.length > 0) return; // on a slow machine more has been typed since
    if (editor && editor.state.doc.toString() !== value) {
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
    }
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const builder = new RangeSetBuilder<Decoration>();
    if (badLine && badLine <= editor.state.doc.lines) {
      const at = editor.state.doc.line(badLine).from;
      builder.add(at, at, Decoration.line({ class: "cm-badline" }));
    }
    editor.dispatch({ effects: mark.reconfigure(EditorView.decorations.of(builder.finish())) });
    // To who types the text must not jump.
    if (badLine && badLine <= editor.state.doc.lines && !editor.hasFocus)
      editor.dispatch({
        effects: EditorView.scrollIntoView(editor.state.doc.line(badLine).from, { y: "center" }),
      });
  }, [badLine]);

  return <div className="cm-host" ref={host} style={{ minHeight: rows * 20 + 16 }} />;
}
