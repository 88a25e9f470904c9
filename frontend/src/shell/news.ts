import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";
import { jobsKey } from "@/api/jobs";
import { runsKey } from "@/api/runs";
import { base } from "@/lib/base";
import { followNews, type News } from "@/lib/events";

/** The queries that no reload repeats: a new version of a job would replace what its editor shows. */
const stays = new Set<unknown>(["me", "yaml", "snapshot"]);

/**
 * Requests again what the page shows when the server says that it has changed. Call it before the page
 * requests anything: what is requested after the stream has opened need not be requested twice.
 */
export function hearNews(client: QueryClient): void {
  const asked = new WeakMap<Query, number>();
  client.getQueryCache().subscribe((e) => {
    if (e.type !== "updated" || e.action.type !== "fetch") return;
    // A list's further page leaves those before it as they were.
    if (!e.action.meta?.fetchMore) asked.set(e.query, performance.now());
  });
  followNews(`${base}/api/v1/events`, ({ reload = 0, topics }) => {
    void client.invalidateQueries({
      predicate: (query) =>
        ((asked.get(query) ?? 0) < reload && !stays.has(query.queryKey[0])) || isNews(query.queryKey, topics),
    });
  });
}

function isNews(queryKey: QueryKey, topics: News["topics"]): boolean {
  switch (queryKey[0]) {
    case jobsKey[0]:
      return (
        concerns(queryKey, topics.get("jobs"), topics.has("jobs")) ||
        // What there is to choose from is counted over all jobs: too much for each run that begins or ends.
        (queryKey[1] !== "facets" && concerns(queryKey, topics.get("runs"), topics.has("runs")))
      );
    case runsKey[0]:
      return topics.has("runs");
    case "schedule":
      return topics.has("jobs") && queryKey[1] !== "preview";
    case "cluster":
      if (queryKey[1] === "groups") return topics.has("executors");
      return topics.has("cluster") && queryKey[1] !== "calendars";
    case "alerts":
      return topics.has("alerts");
    default:
      return false;
  }
}

/** Whether a query about jobs has to do with those that are named; undefined names are any. */
function concerns(key: QueryKey, names: Set<string> | undefined, told: boolean): boolean {
  if (!told) return false;
  if (names === undefined) return true;
  const [, kind, group, name] = key;
  if (kind === "named") return (group as string[]).some((job) => names.has(job));
  const one = kind === "one" || kind === "versions" || kind === "preview" || kind === "steps";
  return !one || names.has(`${group}/${name}`);
}
