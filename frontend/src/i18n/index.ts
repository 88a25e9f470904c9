import { createContext, use, useMemo } from "react";
import { en, type Messages } from "./en";

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

/** Loads the texts of a language. English is always there: it is what the others are checked against. */
export async function loadMessages(lang: Lang): Promise<Messages> {
  return lang === "zh" ? (await import("./zh")).zh : en;
}

export const MessagesContext = createContext<Messages>(en);

/** The texts of the language in use. */
export function useT(): Messages {
  return use(MessagesContext);
}

/**
 * The texts of the language in use, with those that only some pages need: a page brings
 * both languages of its own in its chunk, so that a first visit does not load them.
 */
export function usePage<T extends object>(texts: Record<Lang, T>): Messages & T {
  const t = useT();
  return useMemo(() => ({ ...t, ...texts[t.lang] }), [t, texts]);
}
