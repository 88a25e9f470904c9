import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { clike } from "@codemirror/legacy-modes/mode/clike";
import { groovy } from "@codemirror/legacy-modes/mode/groovy";
import { javascript } from "@codemirror/legacy-modes/mode/javascript";
import { powerShell } from "@codemirror/legacy-modes/mode/powershell";
import { python } from "@codemirror/legacy-modes/mode/python";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import type { Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { tags as k } from "@lezer/highlight";
import type { Language } from "../CodeEditor";

const words = (text: string) => Object.fromEntries(text.split(" ").map((w) => [w, true]));

/** PHP, as far as colours go: a language with braces, whose names begin with a dollar. */
const php = clike({
  name: "php",
  keywords: words(
    "abstract and array as break callable case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global if implements include instanceof interface match namespace new or print private protected public readonly require return static switch throw trait try use var while xor yield",
  ),
  atoms: words("true false null TRUE FALSE NULL"),
  multiLineStrings: true,
  hooks: {
    $(stream: { eatWhile(match: RegExp): boolean }) {
      stream.eatWhile(/\w/);
      return "variable";
    },
    "#"(stream: { skipToEnd(): void }) {
      stream.skipToEnd();
      return "comment";
    },
  },
});

export function languageOf(name: Language): Extension {
  switch (name) {
    case "json":
      return json();
    case "yaml":
      return yaml();
    case "shell":
      return StreamLanguage.define(shell);
    case "python":
      return StreamLanguage.define(python);
    case "javascript":
      return StreamLanguage.define(javascript);
    case "powershell":
      return StreamLanguage.define(powerShell);
    case "groovy":
      return StreamLanguage.define(groovy);
    case "php":
      return StreamLanguage.define(php);
    case "text":
      return [];
  }
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
  ".cm-changedText": { background: "color-mix(in srgb, var(--warn) 14%, transparent) !important" },
  ".cm-collapsedLines": { background: "var(--hover)", color: "var(--ink-3)", padding: "4px 12px" },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: '"⋯"' },
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
