import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import type { Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags as k } from "@lezer/highlight";
import type { Language } from "../CodeEditor";

export function languageOf(name: Language): Extension {
  if (name === "json") return json();
  if (name === "yaml") return yaml();
  return name === "shell" ? StreamLanguage.define(shell) : [];
}

// The page's colours reach into the shadow root, as custom properties inherit.
const colours = HighlightStyle.define([
  { tag: [k.keyword, k.operatorKeyword], color: "var(--accent-ink)" },
  { tag: [k.string, k.special(k.string)], color: "var(--ok-ink)" },
  { tag: [k.number, k.bool, k.null], color: "var(--time-ink)" },
  {
    tag: [k.propertyName, k.definition(k.propertyName), k.variableName, k.attributeName],
    color: "var(--run-ink)",
  },
  { tag: [k.comment], color: "var(--ink-3)" },
  { tag: [k.invalid], color: "var(--bad-ink)" },
]);

const theme = EditorView.theme({
  "&": { fontSize: "12.5px", background: "var(--inset)", color: "var(--ink)", borderRadius: "inherit" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "20px", borderRadius: "inherit" },
  ".cm-gutters": { background: "transparent", border: "0", color: "var(--ink-3)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--hover)" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground, &.cm-focused .cm-selectionBackground": {
    background: "var(--accent-line) !important",
  },
  ".cm-matchingBracket": { background: "var(--active)", outline: "1px solid var(--line-3)" },
  ".cm-badline": { background: "var(--bad-soft)" },
  ".cm-changedLine": { background: "color-mix(in srgb, var(--warn-soft) 60%, transparent) !important" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--warn) 30%, transparent) !important" },
  ".cm-mergeView": { height: "auto" },
  ".cm-collapsedLines": { background: "var(--hover)", color: "var(--ink-3)", padding: "4px 12px" },
});

export const look: Extension = [lineNumbers(), syntaxHighlighting(colours), theme];

/**
 * Returns the root that an editor mounts into. Inside a shadow root CodeMirror adopts
 * style sheets where it would else write style elements, which the content security
 * policy forbids.
 */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}
