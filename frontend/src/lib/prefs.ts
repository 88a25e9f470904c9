import type { Lang } from "@/i18n";
import type { Landing } from "./landing";
import type { Scope } from "./scope";
import { createStoredStore } from "./store";
import type { RangeName } from "./timerange";

export type Theme = "light" | "dark" | "system";

/** What a person chose for this browser. Nothing here is secret. */
export interface Prefs {
  theme: Theme;
  lang: Lang | undefined;
  /** An IANA zone, or "local" for the browser's own. */
  zone: string;
  letters: boolean;
  /** The navigation is its icons, on a wide screen too. */
  narrow: boolean;
  /** Rows of lists stand closer together. */
  compact: boolean;
  /** How hours are counted: to 12 twice, or to 24. */
  hours: 12 | 24;
  /** What the console shows when it is opened. */
  landing: Landing;
  /** The columns of each table whose usual ones were not wanted, in order: "next,success,p95". */
  columns: Record<string, string | undefined>;
  /** The range that was chosen last: of pages whose address has none. */
  range: RangeName;
  /** The scope that was chosen last on the overview. */
  scope: Scope;
}

const defaults: Prefs = {
  theme: "system",
  lang: undefined,
  zone: "local",
  letters: true,
  narrow: false,
  compact: false,
  hours: 24,
  landing: "overview",
  columns: {},
  range: "24h",
  scope: {},
};

const prefs = createStoredStore<Prefs>("carillon.prefs", (stored) => ({
  ...defaults,
  ...(typeof stored === "object" ? stored : {}),
}));

export const getPrefs = prefs.get;
export const usePrefs = prefs.use;

export function setPrefs(change: Partial<Prefs>): void {
  prefs.set({ ...prefs.get(), ...change });
}

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

// Between a desk and a phone there is room for the navigation's icons alone.
const tablet = window.matchMedia("(min-width: 761px) and (max-width: 1240px)");

/** Puts the chosen look on the page, and keeps it there when the system or the window changes. */
export function applyLook(): () => void {
  const apply = () => {
    const current = prefs.get();
    const dark = current.theme === "dark" || (current.theme === "system" && systemDark.matches);
    const look = document.documentElement.dataset;
    look.theme = dark ? "dark" : "light";
    look.side = tablet.matches || current.narrow ? "narrow" : "wide";
    look.rows = current.compact ? "compact" : "usual";
  };
  apply();
  const sources = [systemDark, tablet];
  for (const source of sources) source.addEventListener("change", apply);
  const off = prefs.subscribe(apply);
  return () => {
    for (const source of sources) source.removeEventListener("change", apply);
    off();
  };
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}
