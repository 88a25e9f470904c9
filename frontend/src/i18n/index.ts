import { createContext, use, useMemo } from "react";
import type { Messages } from "./en";
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

// Each import stands by itself: of two in one expression, the bundler has a browser preload both.
const languages = {
  en: {
    core: () => import("./en").then((m): Messages => m.en),
    pages: () => import("./en/pages").then((m): PageMessages => m.pages),
  },
  zh: {
    core: () => import("./zh").then((m) => m.zh),
    pages: async (): Promise<PageMessages> => {
      const asked = import("./zh/refusals");
      const { pages } = await import("./zh/pages");
      return { ...pages, refusals: (await asked).refusals };
    },
  },
};

/** Loads the texts of a language that every page needs. */
export function loadMessages(lang: Lang): Promise<Messages> {
  return languages[lang].core();
}

const asked: Partial<Record<Lang, Promise<PageMessages>>> = {};
const loaded: Partial<Record<Lang, PageMessages>> = {};

/** Loads the other texts of a language, once. What failed is asked for again. */
export function loadPages(lang: Lang): Promise<PageMessages> {
  asked[lang] ??= languages[lang].pages().then(
    (pages) => {
      loaded[lang] = pages;
      return pages;
    },
    (failure) => {
      delete asked[lang];
      throw failure;
    },
  );
  return asked[lang];
}

export const MessagesContext = createContext<Messages | undefined>(undefined);

/** The texts of the language in use that every page needs. */
export function useT(): Messages {
  const messages = use(MessagesContext);
  if (!messages) throw new Error("there is no MessagesContext around this component");
  return messages;
}

/** The sentences of refusals, once the other texts of a language are loaded. */
export function refusalsOf(lang: Lang): Partial<Record<string, string>> {
  return loaded[lang]?.refusals ?? {};
}

export type AllMessages = Messages & PageMessages;

/** All texts of the language in use. It suspends while they are loaded. */
export function usePageT(): AllMessages {
  const t = useT();
  const more = loaded[t.lang] ?? use(loadPages(t.lang));
  return useMemo(() => ({ ...t, ...more }), [t, more]);
}
