import { createContext, use, useMemo } from "react";
import type { Messages } from "./en";
import type { editor } from "./en/editor";
import type { PageMessages } from "./en/pages";

export type Lang = "en" | "zh";

/** BCP 47 tags, for Intl and the lang attribute. */
export const tags: Record<Lang, string> = { en: "en-GB", zh: "zh-CN" };

/** The language that a browser asks for. */
export function preferred(languages: readonly string[]): Lang {
  for (const tag of languages) {
    if (tag.startsWith("zh")) return "zh";
    if (tag.startsWith("en")) return "en";
  }
  return "en";
}

type EditorMessages = typeof editor;

// Each import stands by itself: of two in one expression, the bundler has a browser preload both.
const languages = {
  en: {
    core: () => import("./en").then((m): Messages => m.en),
    pages: () => import("./en/pages").then((m): PageMessages => m.pages),
    editor: () => import("./en/editor").then((m): EditorMessages => m.editor),
  },
  zh: {
    core: () => import("./zh").then((m) => m.zh),
    pages: async (): Promise<PageMessages> => {
      const asked = import("./zh/refusals");
      const { pages } = await import("./zh/pages");
      const { refusals, findings } = await asked;
      return { ...pages, refusals: { ...refusals, ...findings } };
    },
    editor: () => import("./zh/editor").then((m): EditorMessages => m.editor),
  },
};

/** Loads the texts of a language that every page needs. */
export function loadMessages(lang: Lang): Promise<Messages> {
  return languages[lang].core();
}

/** Texts of each language that are loaded once. What failed is asked for again. */
function texts<T>(ask: (lang: Lang) => Promise<T>) {
  const asked: Partial<Record<Lang, Promise<T>>> = {};
  const loaded: Partial<Record<Lang, T>> = {};
  const load = (lang: Lang): Promise<T> => {
    asked[lang] ??= ask(lang).then(
      (text) => {
        loaded[lang] = text;
        return text;
      },
      (failure) => {
        delete asked[lang];
        throw failure;
      },
    );
    return asked[lang];
  };
  return { load, loaded };
}

const pages = texts((lang) => languages[lang].pages());
const editors = texts((lang) => languages[lang].editor());

/** Loads the texts of a language that not every page needs. */
export const loadPages = pages.load;

/** Loads the texts of the job editor in a language. */
export const loadEditor = editors.load;

export const MessagesContext = createContext<Messages | undefined>(undefined);

/** The texts of the language in use that every page needs. */
export function useT(): Messages {
  const messages = use(MessagesContext);
  if (!messages) throw new Error("there is no MessagesContext around this component");
  return messages;
}

/** The sentences of refusals and findings, once the other texts of a language are loaded. */
export function refusalsOf(lang: Lang): Partial<Record<string, string>> {
  return pages.loaded[lang]?.refusals ?? {};
}

export type AllMessages = Messages & PageMessages;

/** All texts of the language in use, but for those of the job editor. It suspends while they are loaded. */
export function usePageT(): AllMessages {
  const t = useT();
  const more = pages.loaded[t.lang] ?? use(loadPages(t.lang));
  return useMemo(() => ({ ...t, ...more }), [t, more]);
}

/** The same with the texts of the job editor. */
export function useEditorT(): AllMessages & { editor: EditorMessages } {
  const { lang } = useT();
  const asked = loadEditor(lang); // beside the texts of pages, not after them
  const t = usePageT();
  const more = editors.loaded[lang] ?? use(asked);
  return useMemo(() => ({ ...t, editor: more }), [t, more]);
}
