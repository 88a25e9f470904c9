import type { QueryClient } from "@tanstack/react-query";
import { readSort, writeSort } from "@/lib/columns";
import { conditionsOf, type JobChoices, jobFields } from "@/lib/jobfilter";
import { failures, living } from "@/lib/status";
import { type JobFilter, jobList } from "./jobs";
import { meQuery } from "./session";

/** The views of the jobs' page besides that of all jobs. */
export const jobViews = ["failing", "running", "mine", "paused", "never"] as const;
export type JobView = (typeof jobViews)[number];

/** The columns by which jobs can be sorted, named as the server's orders are. */
export const sortColumns = ["name", "last", "next", "success", "p95", "owner", "version", "changed"] as const;
export type SortColumn = (typeof sortColumns)[number];

/** The order of the list while the address names none. */
export const usualSort = "attention";

/** What the address of the jobs' page says of the list. */
export interface JobsSearch extends JobChoices {
  q?: string;
  view?: JobView;
  sort?: string;
}

/** What a view has, for whoever is signed in. */
function viewOf(view: JobView, user: string): JobFilter {
  switch (view) {
    case "failing":
      return { last: failures };
    case "running":
      return { last: living };
    case "mine":
      return { where: [`owner:${user}`] };
    case "paused":
      return { paused: true };
    case "never":
      return { where: ["last:none"] };
  }
}

export function choicesOf(search: JobsSearch): JobChoices {
  return Object.fromEntries(jobFields.map((field) => [field, search[field]]));
}

/** What the server is asked for; a view whose field is filtered by, too, is narrowed by it. */
export function filterOf(search: JobsSearch, user: string): JobFilter {
  const choices = choicesOf(search);
  const view: JobFilter = search.view ? viewOf(search.view, user) : {};
  if (view.last && choices.last) {
    const wanted = choices.last.filter((v) => !v.startsWith("-"));
    const both = view.last.filter((v) => wanted.length === 0 || wanted.includes(v));
    if (both.length > 0) {
      view.last = both;
      choices.last = choices.last.filter((v) => v.startsWith("-"));
    }
  }
  const where = [...(view.where ?? []), ...conditionsOf(choices)];
  return { ...view, q: search.q?.trim() || undefined, where: where.length > 0 ? where : undefined };
}

/** The order that an address asks for, by a column or by what needs somebody. */
export function orderOf(wanted: string | undefined): string {
  return writeSort(readSort(wanted, sortColumns)) ?? usualSort;
}

/**
 * Asks for the first page of the list while the page itself is loaded, and before the counts of its
 * tabs: a browser asks a server for six things at a time.
 */
export async function askForJobs(client: QueryClient, search: JobsSearch): Promise<void> {
  const me = await client.ensureQueryData(meQuery).catch(() => undefined); // then the page asks for a sign-in
  if (me) await client.prefetchInfiniteQuery(jobList(filterOf(search, me.user), orderOf(search.sort)));
}
