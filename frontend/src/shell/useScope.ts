import { setPrefs, usePrefs } from "@/lib/prefs";
import { readScope, type Scope } from "@/lib/scope";
import type { Ranged } from "./useRange";

/** The range of a page, and the jobs to which the page is narrowed. */
export interface Scoped extends Ranged {
  scope: Scope;
}

/** The scope of a page's address, or the one that was chosen last; and how to choose another one. */
export function useScope(search: Scope, onChange: (scope: Scope) => void) {
  const scope = readScope(search, usePrefs().scope);
  return {
    scope,
    choose: (change: Scope) => {
      const next: Scope = { ...scope, ...change };
      setPrefs({ scope: next });
      onChange(next);
    },
  };
}
