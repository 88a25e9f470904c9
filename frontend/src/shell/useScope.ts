import { setPrefs, usePrefs } from "@/lib/prefs";
import { readScope, type Scope } from "@/lib/scope";
import type { Ranged } from "./useRange";

/** The range that a page shows, and of which jobs. */
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
