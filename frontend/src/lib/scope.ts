import { conditionsOf, type JobChoices } from "./jobfilter";
import { one } from "./search";

/** By what a page is narrowed to a part of all jobs. */
export const scopes = ["group", "owner", "tag"] as const;
export type Scope = { [key in (typeof scopes)[number]]?: string | undefined };

/** The parameters of an address that say a scope. */
export const scopeSearch = (s: { [key in keyof Scope]?: unknown }): Scope => ({
  group: one(s.group),
  owner: one(s.owner),
  tag: one(s.tag),
});

export const isScoped = (s: Scope) => scopes.some((key) => s[key]);

/** The scope of an address; of one that has none, the one that was chosen last. */
export const readScope = (search: Scope, last: Scope): Scope =>
  isScoped(search) ? scopeSearch(search) : last;

/** The same as the page of jobs has it. */
export const choicesOfScope = (s: Scope): JobChoices =>
  Object.fromEntries(scopes.flatMap((key) => (s[key] ? [[key, [s[key]]]] : [])));

/** The same as conditions of jobs; undefined for all jobs. */
export const conditionsOfScope = (s: Scope): string[] | undefined =>
  isScoped(s) ? conditionsOf(choicesOfScope(s)) : undefined;
