import { type QueryClient, type QueryKey, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { jobsKey } from "@/api/jobs";
import { runsKey } from "@/api/runs";
import { base } from "@/lib/base";
import { followNews, type News } from "@/lib/events";

/** Has what the page shows asked for again when the server tells that it has changed. */
export function useNews(): void {
  const client = useQueryClient();
  useEffect(() => followNews(`${base}/api/v1/events`, (news) => apply(client, news)), [client]);
}

function apply(client: QueryClient, { reload, topics }: News): void {
  if (reload) {
    void client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== "me" && q.queryKey[0] !== "yaml" });
    return;
  }
  void client.invalidateQueries({
    predicate: ({ queryKey }) => {
      switch (queryKey[0]) {
        case jobsKey[0]:
          return (
            concerns(queryKey, topics.get("jobs"), topics.has("jobs")) ||
            concerns(queryKey, topics.get("runs"), topics.has("runs"))
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
    },
  });
}

/** Whether a query about jobs has to do with those that are named; undefined names are any. */
function concerns(key: QueryKey, names: Set<string> | undefined, told: boolean): boolean {
  if (!told) return false;
  const [, kind, group, name] = key;
  const one = kind === "one" || kind === "versions" || kind === "preview";
  return !one || names === undefined || names.has(`${group}/${name}`);
}
